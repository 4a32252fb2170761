package explore

import (
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/scenarios/broken"
	"github.com/unplug-go/unplug/scenarios/oracle"
	"github.com/unplug-go/unplug/scenarios/target"
)

// Every place of every kind is a damage that fits, that a plan can spell, and that is unlike
// every other one of its kind.
func TestDamageKindsLayOutTheirPlaces(t *testing.T) {
	f := newDamagedFile("/log", []byte(`{"type":"a","n":12,"in":{"type":"b"}}`+"\n"+`{"n":[3,{"x":"}\""}]}`+"\n"+"no object\n"))
	for _, k := range damageKinds() {
		n := k.count(f)
		assert.Positive(t, n, k.name)
		seen := map[string]bool{}
		for i := range n {
			d := k.at(f, i)
			_, err := d.Apply(f.data)
			require.NoError(t, err, "%s %d", k.name, i)
			rule, err := faultfs.ParseRule("after sync * 1 -> " + d.String())
			require.NoError(t, err, "%s %d", k.name, i)
			require.Equal(t, d, rule.Fault.Damage)
			assert.False(t, seen[d.String()] && k.name != "nul" && k.name != "delete", "%s twice: %s", k.name, d)
			seen[d.String()] = true
		}
	}
}

// A log without a newline, and one of one byte, have places that fit, too.
func TestDamageKindsOfOddFiles(t *testing.T) {
	for _, data := range []string{"x", "\n", `{"a":1}`, "{", `{"a`, `{"a":1}}`, "\n\n", `{,}`, `{"type":`} {
		f := newDamagedFile("/log", []byte(data))
		for _, k := range damageKinds() {
			for i := range k.count(f) {
				if damaged, err := k.at(f, i).Apply(f.data); err == nil {
					f.vouched(oracle.Strict(), k.at(f, i), damaged)
				}
			}
		}
	}
}

// What the contract vouches for: what stands in front of a last line that is still there.
func TestDamageThatIsVouchedFor(t *testing.T) {
	const log = "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n" // lines begin at 0, 8 and 16
	noTail := oracle.AtomicReplace()
	noTail.Detect = oracle.DetectBytes
	for _, c := range []struct {
		damage   string
		contract oracle.Contract
		later    bool
		want     bool
		reason   string
	}{
		{"flip 15.0", oracle.Strict(), false, true, "the last byte in front of the last line"},
		{"flip 16.0", oracle.Strict(), false, false, "the first byte of the last line"},
		{"flip 16.0", oracle.Strict(), true, true, "another segment follows"},
		{"flip 3.0", oracle.Lines(), false, false, "no checksum shows it"},
		{"flip 3.0", oracle.Lenient(), true, false, "nothing is promised"},
		{"nul 3 2", oracle.Lines(), false, true, "NULs show without a checksum"},
		{"nul 20 1", oracle.Lines(), false, false, "a crash leaves NULs at the end"},
		{"delete 7 1", oracle.Lines(), false, true, "two lines are glued"},
		{"delete 15 1", oracle.Lines(), false, true, "the last two lines are glued"},
		{"delete 23 1", oracle.Strict(), false, false, "the last newline ends nothing that was in front"},
		{"delete 6 1", oracle.Lines(), false, false, "no checksum shows it"},
		{"delete 10 14", oracle.Strict(), false, false, "nothing is left behind it"},
		{"truncate 8", oracle.Strict(), false, false, "a crash may have left it"},
		{"truncate 8", oracle.Strict(), true, true, "a later segment says that it was whole"},
		{"truncate 0", oracle.Strict(), false, false, "a crash may have left it"},
		{"truncate 0", oracle.AtomicReplace(), false, true, "a file that is only ever replaced is never empty"},
		{"truncate 8", oracle.AtomicReplace(), false, false, "nothing is promised about bytes"},
		{"truncate 8", noTail, false, true, "a file that is only ever replaced is whole"},
		{"again", oracle.Strict(), false, true, "the last line is the last no more"},
		{"again", oracle.Lines(), false, false, "every line has its form"},
		{"duplicate 3", oracle.Strict(), false, true, "the last line is the last no more"},
		{"dropline 2", oracle.Strict(), false, true, "the last line is still there"},
		{"dropline 3", oracle.Strict(), false, false, "a missing end shows only from outside"},
		{"swap 1 3", oracle.Strict(), false, true, "every line is still there"},
		{"crlf", oracle.Strict(), false, true, "every line is still there"},
		{"bom", oracle.Strict(), false, true, "the last line is still there"},
	} {
		t.Run(c.contract.Name+" "+c.damage, func(t *testing.T) {
			rule, err := faultfs.ParseRule("after sync * 1 -> " + c.damage)
			require.NoError(t, err)
			f := newDamagedFile("/log", []byte(log))
			f.later = c.later
			damaged, err := rule.Fault.Damage.Apply(f.data)
			require.NoError(t, err)
			assert.Equal(t, c.want, f.vouched(c.contract, rule.Fault.Damage, damaged), c.reason)
		})
	}
}

// A subject that hangs at damaged bytes is a finding, after which the sweep ends: it would hang at
// many more places.
func TestDamageThatHangs(t *testing.T) {
	s := broken.Subject("")
	read := s.Recover
	stop := make(chan struct{})
	defer close(stop)
	s.Recover = func(fsys afero.Fs, name string) (target.Recovered, error) {
		data, _ := afero.ReadFile(fsys, name)
		if len(data) > 0 && data[0] == 0 {
			<-stop
		}
		return read(fsys, name)
	}
	rep, err := Run(t.Context(), Config{
		Subject: s, Contract: oracle.Lines(), Steps: 2, NoCrash: true, Damages: 4000, Workers: 2, patience: 1, Scenes: []string{},
	})
	require.NoError(t, err)
	require.Len(t, rep.Violations, 1)
	assert.Equal(t, "UP203", rep.Violations[0].ID)
	assert.Equal(t, "damage was not answered", rep.Violations[0].Text)
	d := rep.Coverage.Damage
	assert.Equal(t, 1, d.Other+d.Excused.Other)
	assert.Less(t, d.Logs[0].Tried, 4000)
}
