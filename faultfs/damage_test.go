package faultfs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/unplug-go/unplug/faultfs"
)

func TestDamage(t *testing.T) {
	seen := map[faultfs.DamageKind]bool{}
	for _, c := range []struct {
		fault, before, after string
	}{
		{"flip 1.0", "abc", "acc"},
		{"flip -1.7", "abc", "ab\xe3"},
		{"nul 1 2", "abcd", "a\x00\x00d"},
		{"nul -2 2", "abcd", "ab\x00\x00"},
		{"delete 0 2", "abcd", "cd"},
		{"delete -1 1", "ab\n", "ab"},
		{"duplicate 2", "a\nb\nc\n", "a\nb\nb\nc\n"},
		{"duplicate 2", "a\nb", "a\nbb"},
		{"swap 1 3", "a\nb\nc\n", "c\nb\na\n"},
		{"bom", "a\n", "\xef\xbb\xbfa\n"},
		{"crlf", "a\nb\n", "a\r\nb\r\n"},
		{"badutf8 1", "abc", "a\xffc"},
		{"dropline 2", "a\nb\nc\n", "a\nc\n"},
		{"dropline 2", "a\nb", "a\n"},
		{"repeat 1 3", "a\nb\nc\n", "a\nb\na\nc\n"},
		{"repeat 3 1", "a\nb\nc\n", "c\na\nb\nc\n"},
		{"repeat 1 4", "a\nb\nc\n", "a\nb\nc\na\n"},
		{"truncate 2", "a\nb\n", "a\n"},
		{"truncate 0", "a\nb\n", ""},
		{"truncate -1", "a\nb\n", "a\nb"},
		{"again", "a\nb\n", "a\nb\na\nb\n"},
		{`splice 1 0 "\n"`, "abc", "a\nbc"},
		{"splice 1 1 x", "abc", "axc"},
		{`splice 0 1 "\\ud800"`, "abc", `\ud800bc`},
		{`splice -1 1 "\xff y"`, "abc", "ab\xff y"},
		{`splice 3 0 "d"`, "abc", "abcd"},
		{`splice 0 2 ""`, "abc", "c"},
	} {
		d := damage(t, c.fault)
		seen[d.Kind] = true
		before := []byte(c.before)
		after, err := d.Apply(before)
		require.NoError(t, err, c.fault)
		assert.Equal(t, c.after, string(after), c.fault)
		assert.Equal(t, c.before, string(before), "%s changed its argument", c.fault)
	}
	for _, kind := range faultfs.DamageKinds() {
		assert.True(t, seen[kind], "%s has no case", kind)
	}
}

func TestDamageThatDoesNotFit(t *testing.T) {
	for _, c := range []struct{ fault, content, want string }{
		{"flip 3.0", "abc", "flip 3.0: the content has 3 bytes"},
		{"flip -4.0", "abc", "the content has 3 bytes"},
		{"nul 2 2", "abc", "the content has 3 bytes"},
		{"nul 0 0", "abc", "the content has 3 bytes"},
		{"nul 0 9223372036854775807", "abc", "the content has 3 bytes"},
		{"delete 1 -1", "abc", "the content has 3 bytes"},
		{"duplicate 3", "a\nb\n", "the content has 2 lines"},
		{"duplicate 0", "a\n", "the content has 1 lines"},
		{"swap 1 4", "a\nb\nc", "the content has 3 lines"},
		{"dropline 3", "a\nb\n", "the content has 2 lines"},
		{"repeat 1 4", "a\nb\n", "the content has 2 lines"},
		{"repeat 3 1", "a\nb\n", "the content has 2 lines"},
		{"splice 2 2 x", "abc", "the content has 3 bytes"},
		{"splice 0 -1 x", "abc", "the content has 3 bytes"},
		{"splice 0 1 a", "abc", "it changes nothing"},
		{"truncate 3", "abc", "the content has 3 bytes"},
		{"truncate 0", "", "the content has 0 bytes"},
		{"again", "", "it changes nothing"},
		{"swap 1 2", "a\na\n", "it changes nothing"},
		{"nul 0 1", "\x00", "it changes nothing"},
		{"crlf", "abc", "it changes nothing"},
	} {
		_, err := damage(t, c.fault).Apply([]byte(c.content))
		require.ErrorContains(t, err, c.want, c.fault)
	}
	_, err := faultfs.Damage{Kind: "melt"}.Apply([]byte("abc"))
	require.ErrorContains(t, err, "want one of flip, nul")
	_, err = faultfs.Damage{Kind: faultfs.Flip, Bit: 8}.Apply([]byte("abc"))
	require.ErrorContains(t, err, "bits 0 to 7")
}

func damage(t *testing.T, fault string) faultfs.Damage {
	t.Helper()
	rule, err := faultfs.ParseRule("after write * 1 -> " + fault)
	require.NoError(t, err)
	return rule.Fault.Damage
}
