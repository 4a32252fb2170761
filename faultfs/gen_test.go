package faultfs_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs"
)

// drawFault is any fault of a kind, with arguments that a plan may hold.
func drawFault(t *rapid.T, kind faultfs.FaultKind, when faultfs.When, call faultfs.Call) faultfs.Fault {
	f := faultfs.Fault{Kind: kind}
	number := rapid.Int64Range(-30, 60)
	switch kind {
	case faultfs.Cut:
		f.N = number.Draw(t, "n")
		f.Mode = rapid.SampledFrom([]faultfs.Mode{faultfs.Told, faultfs.Silent, faultfs.Unseen}).Draw(t, "mode")
	case faultfs.Short:
		if call == faultfs.CallRead {
			f.N = rapid.Int64Range(1, 60).Draw(t, "n")
			break
		}
		f.N = number.Draw(t, "n")
		f.Mode = rapid.SampledFrom([]faultfs.Mode{faultfs.Told, faultfs.Silent}).Draw(t, "mode")
	case faultfs.Kill, faultfs.SigKill:
		if when == faultfs.Inside && call == faultfs.CallWrite {
			f.N = number.Draw(t, "n")
		}
	case faultfs.ENOSPC:
		if call == faultfs.CallWrite {
			f.N = number.Draw(t, "n")
		}
	case faultfs.Full:
		f.N = rapid.Int64Range(0, 3).Draw(t, "n")
	case faultfs.Slow:
		f.Delay = time.Duration(rapid.Int64Range(1, 1e12).Draw(t, "delay"))
	default:
		for _, damage := range faultfs.DamageKinds() {
			if faultfs.FaultKind(damage) == kind {
				f.Damage = drawDamage(t, damage)
				f.In = rapid.SampledFrom([]string{"", "/a", "/d/a", "/with blank", "in", "->", `/q"`}).Draw(t, "in")
				if f.In == "" && call == faultfs.CallNote {
					f.In = "/a"
				}
			}
		}
	}
	return f
}

func drawDamage(t *rapid.T, kind faultfs.DamageKind) faultfs.Damage {
	d := faultfs.Damage{Kind: kind}
	off := rapid.Int64Range(-10, 10)
	switch kind {
	case faultfs.Flip:
		d.Off, d.Bit = off.Draw(t, "off"), rapid.Uint8Range(0, 7).Draw(t, "bit")
	case faultfs.Nul, faultfs.Delete, faultfs.Swap, faultfs.Repeat:
		d.Off, d.Len = off.Draw(t, "off"), off.Draw(t, "len")
	case faultfs.Splice:
		d.Off, d.Len = off.Draw(t, "off"), off.Draw(t, "len")
		d.Text = rapid.SampledFrom([]string{"", "x", "in", "->", "# y", "\n", `"`, "\\ud800", "\xff\x00", "é"}).Draw(t, "text")
	case faultfs.Duplicate, faultfs.DropLine, faultfs.BadUTF8, faultfs.Truncate:
		d.Off = off.Draw(t, "off")
	case faultfs.BOM, faultfs.CRLF, faultfs.Again:
	}
	return d
}

// spot is a kind of fault with a place where it can act.
type spot struct {
	kind faultfs.FaultKind
	when faultfs.When
	call faultfs.Call
}

// spots are all of them: each kind at each side of each call that it can befall.
func spots() []spot {
	var all []spot
	for _, kind := range faultfs.FaultKinds() {
		for _, when := range faultfs.Whens() {
			for _, call := range faultfs.Calls() {
				if sample(kind, when, call).Check() == nil {
					all = append(all, spot{kind, when, call})
				}
			}
		}
	}
	return all
}

// sample is a rule of a kind with the plainest arguments.
func sample(kind faultfs.FaultKind, when faultfs.When, call faultfs.Call) faultfs.Rule {
	f := faultfs.Fault{Kind: kind}
	switch kind {
	case faultfs.Cut, faultfs.Short:
		f.N = 1
	case faultfs.Slow:
		f.Delay = time.Second
	default:
		for _, damage := range faultfs.DamageKinds() {
			if faultfs.FaultKind(damage) == kind {
				f.Damage, f.In = sampleDamage(damage), "/log"
			}
		}
	}
	return faultfs.Rule{When: when, Call: call, Match: "*", Nth: faultfs.Nth{From: 1}, Fault: f}
}

func drawRule(t *rapid.T) faultfs.Rule {
	s := rapid.SampledFrom(spots()).Draw(t, "spot")
	match := rapid.SampledFrom([]string{"*", "/d/*", "a", "/**", "[a-c]", "append 7 called", "->", "#", "", "é\n"}).Draw(t, "match")
	return faultfs.Rule{
		When: s.when, Call: s.call, Match: match,
		Nth:   faultfs.Nth{From: rapid.IntRange(1, 9).Draw(t, "from"), On: rapid.Bool().Draw(t, "on")},
		Fault: drawFault(t, s.kind, s.when, s.call),
	}
}

// drawPlan is a plan that spares the process of the test.
func drawPlan(t *rapid.T) faultfs.Plan {
	rules := rapid.SliceOfN(rapid.Custom(drawRule).Filter(func(r faultfs.Rule) bool { return r.Fault.Kind != faultfs.SigKill }), 0, 3)
	return faultfs.Plan{Rules: rules.Draw(t, "rules")}
}

func sampleDamage(kind faultfs.DamageKind) faultfs.Damage {
	switch kind {
	case faultfs.Splice:
		return faultfs.Damage{Kind: kind, Off: 1, Len: 2, Text: "x"}
	case faultfs.Nul, faultfs.Delete, faultfs.Swap, faultfs.Repeat:
		return faultfs.Damage{Kind: kind, Off: 1, Len: 2}
	case faultfs.Flip, faultfs.Duplicate, faultfs.DropLine, faultfs.BadUTF8, faultfs.Truncate:
		return faultfs.Damage{Kind: kind, Off: 1}
	default:
		return faultfs.Damage{Kind: kind}
	}
}
