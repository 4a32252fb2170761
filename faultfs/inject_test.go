package faultfs_test

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
	"github.com/unplug-go/unplug/faultfs/trace"
)

func TestScriptMakesEveryCallTwice(t *testing.T) {
	s, _ := perform(t, "")
	for _, call := range faultfs.Calls() {
		if call == faultfs.CallNote {
			continue
		}
		require.Positive(t, s.nth(call, 2), "%s", call)
	}
	for _, r := range s.results {
		require.NoError(t, r.err, "%s", r.call)
	}
}

// Every kind of fault, at every side of every call that it can befall, acts on the second such
// call, in its own way, and nowhere else.
func TestEveryFaultActsWhereItSays(t *testing.T) {
	plain, plainMem := perform(t, "")
	for _, sp := range spots() {
		if sp.kind == faultfs.SigKill {
			continue // ends this process; TestSigKill has a child for it
		}
		rule := sample(sp.kind, sp.when, sp.call)
		rule.Nth.From = 2
		t.Run(fmt.Sprintf("%s_%s_%s", sp.when, sp.call, sp.kind), func(t *testing.T) {
			c := injection{rule: rule, plain: plain, plainMem: plainMem}
			c.s, c.mem = perform(t, rule.String(), faultfs.WithSleep(func(d time.Duration) {
				c.slept = append(c.slept, d)
			}))
			require.Empty(t, c.s.fs.Unused())
			c.judge(t)
		})
	}
}

// injection is one run of the script with one rule, beside the run without.
type injection struct {
	rule          faultfs.Rule
	plain, s      *script
	plainMem, mem *faultfs.Mem
	slept         []time.Duration
}

// place is the call that the rule hits, and the length of the plain log before and after it.
func (c *injection) place() (i, before, after int) {
	if c.rule.Call == faultfs.CallNote {
		ops := c.plain.fs.Log().Ops()
		n := slices.IndexFunc(ops, func(op trace.Op) bool { return op.Text == "round 2" })
		i = slices.IndexFunc(c.plain.results, func(r result) bool { return r.before > n })
		return i, n, n + 1
	}
	i = c.plain.nth(c.rule.Call, 2)
	return i, c.plain.results[i].before, c.plain.results[i].after
}

func (c *injection) judge(t *testing.T) {
	t.Helper()
	i, before, after := c.place()
	plain, ops := c.plain.fs.Log().Ops(), c.s.fs.Log().Ops()
	switch kind := c.rule.Fault.Kind; kind {
	case faultfs.Kill:
		c.judgeKill(t, i, before, after)
	case faultfs.EIO, faultfs.EROFS, faultfs.EACCES, faultfs.EWOULDBLOCK, faultfs.ENOSPC:
		errno := map[faultfs.FaultKind]error{
			faultfs.EIO: syscall.EIO, faultfs.EROFS: syscall.EROFS, faultfs.EACCES: syscall.EACCES,
			faultfs.EWOULDBLOCK: syscall.EWOULDBLOCK, faultfs.ENOSPC: syscall.ENOSPC,
		}[kind]
		c.judgeErrno(t, i, before, after, errno)
	case faultfs.Slow:
		require.Equal(t, []time.Duration{time.Second}, c.slept)
		require.Equal(t, plain, ops)
		require.Len(t, c.s.results, len(c.plain.results))
	case faultfs.Cut, faultfs.Short, faultfs.Full, faultfs.FailClean, faultfs.FailRO, faultfs.FailShutdown, faultfs.FailFalse, faultfs.FailLate, faultfs.Lied:
		// What the program sees of these has tests of its own; here, that they begin where they should.
		require.Equal(t, plain[:before], ops[:before])
		if c.rule.Call != faultfs.CallRead {
			require.Equal(t, c.rule.String(), ops[before].Fault)
		}
		for _, r := range c.s.results[:i] {
			require.NoError(t, r.err)
		}
	default:
		at := before
		if c.rule.When == faultfs.After {
			at = after
		}
		c.judgeDamage(t, at)
	}
}

func (c *injection) judgeKill(t *testing.T, i, before, after int) {
	t.Helper()
	plain, ops := c.plain.fs.Log().Ops(), c.s.fs.Log().Ops()
	switch {
	case c.rule.When == faultfs.Before:
		require.Equal(t, plain[:before], ops)
	case c.rule.When == faultfs.After:
		require.Equal(t, plain[:after], ops)
	case before < after: // inside a call that the log holds
		require.Equal(t, plain[:before], ops[:before])
		require.Len(t, ops, before+1)
		require.Equal(t, plain[before].Kind, ops[before].Kind)
		require.Equal(t, faultfs.ErrKilled.Error(), ops[before].Err)
		require.False(t, ops[before].Changes(), "0 bytes of it are to happen")
	default:
		require.Equal(t, plain[:before], ops)
	}
	for j, r := range c.s.results {
		if j < i {
			require.NoError(t, r.err)
		} else {
			require.ErrorIs(t, r.err, faultfs.ErrKilled, "call %d, %s", j, r.call)
		}
	}
	require.True(t, c.s.fs.Killed())
	for _, name := range []string{"/w1", "/w2"} {
		f, err := c.mem.Open(name)
		require.NoError(t, err)
		require.NoError(t, f.(faultfs.Locker).TryLock(), "the dead hold no locks")
		require.NoError(t, f.Close())
	}
}

func (c *injection) judgeErrno(t *testing.T, i, before, after int, errno error) {
	t.Helper()
	plain, ops := c.plain.fs.Log().Ops(), c.s.fs.Log().Ops()
	for j, r := range c.s.results {
		if j != i {
			require.NoError(t, r.err, "call %d, %s", j, r.call)
			continue
		}
		var fault *faultfs.FaultError
		require.ErrorAs(t, r.err, &fault)
		require.ErrorIs(t, r.err, errno)
		require.Equal(t, c.rule.String(), fault.Rule)
		require.Equal(t, string(r.call), fault.Op)
	}
	if before < after { // the log holds such calls: it has one more, which failed and did nothing
		require.Equal(t, plain[before].Kind, ops[before].Kind)
		require.Equal(t, plain[before].Path, ops[before].Path)
		require.Equal(t, errno.Error(), ops[before].Err)
		require.Equal(t, c.rule.String(), ops[before].Fault)
		require.False(t, ops[before].Changes())
		ops = slices.Delete(slices.Clone(ops), before, before+1)
	}
	require.Equal(t, plain, ops)
	require.Equal(t, c.plainMem.Image().Hash(), c.mem.Image().Hash())
}

func (c *injection) judgeDamage(t *testing.T, at int) {
	t.Helper()
	plain, ops := c.plain.fs.Log().Ops(), c.s.fs.Log().Ops()
	require.Equal(t, plain[:at], ops[:at])
	extra := len(ops) - len(plain)
	require.Positive(t, extra)
	for _, op := range ops[at : at+extra] {
		require.Equal(t, c.rule.String(), op.Fault)
		require.Equal(t, "/log", op.Path)
		require.True(t, op.Changes())
	}
	require.Equal(t, plain[at:], ops[at+extra:])
	want, err := c.rule.Fault.Damage.Apply([]byte(logContent))
	require.NoError(t, err)
	require.Equal(t, string(want), content(t, c.mem, "/log"))
	require.NoError(t, afero.WriteFile(c.mem, "/log", []byte(logContent), 0o600))
	require.Equal(t, c.plainMem.Image().Hash(), c.mem.Image().Hash(), "only /log was to be damaged")
	for _, r := range c.s.results {
		require.NoError(t, r.err)
	}
}
