//go:build linux

package faultfs_test

import (
	"io/fs"
	"os"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// posixNames are few, so that programs meet: files, folders that hold them, paths through
// files, through what is missing and back, slashes, odd bytes, and the longest names. (Whole
// paths at their limit are TestMemLongPath's: the folder's own path would count there.)
func posixNames() []string {
	long := strings.Repeat("n", 255)
	return []string{
		"a", "b", "d", "d/a", "d/e", "d/e/a", "b/x", "a", "b", "d", "d/a", "d/e",
		"a/", "d/", "a/x", "missing/x", "d/.", "d/..", "d/../a", "missing/../a", "a/../b", "d/./a", "d//a", "d/e/../a",
		"d/e/", "d/new/", "q r\t\n\xff", "d/é", "...", long, long + "n", "d/" + long, "d/" + long + "n/x", "nul\x00byte", "",
	}
}

func posixName() *rapid.Generator[string] {
	// The first twelve come more often.
	all := posixNames()
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 3).Draw(t, "plain") > 0 {
			return rapid.SampledFrom(all[:12]).Draw(t, "name")
		}
		return rapid.SampledFrom(all).Draw(t, "name")
	})
}

func posixFlags() *rapid.Generator[int] {
	return rapid.Custom(func(t *rapid.T) int {
		flag := rapid.SampledFrom([]int{os.O_RDWR, os.O_RDWR, os.O_WRONLY, os.O_RDONLY}).Draw(t, "access")
		for _, f := range []int{os.O_CREATE, os.O_CREATE, os.O_APPEND, os.O_TRUNC, os.O_EXCL, os.O_SYNC} {
			if rapid.IntRange(0, 2).Draw(t, "flag") == 0 {
				flag |= f
			}
		}
		return flag
	})
}

// posixModes leave the owner all rights unless the owner is root, whom no bit stops.
func posixModes() []fs.FileMode {
	modes := []fs.FileMode{0o700, 0o755, 0o777, 0o750, fs.ModeSticky | 0o777}
	if os.Geteuid() == 0 {
		modes = append(modes, 0o600, 0o644, 0o400, 0)
	}
	return modes
}

// posixWeights is how often each call comes.
func posixWeights() []string {
	var all []string
	for do, n := range map[string]int{
		"open": 12, "create": 2, "mkdir": 4, "mkdirall": 2, "remove": 3, "removeall": 1, "rename": 6, "link": 3, "chmod": 1,
		"chown": 1, "stat": 2, "lstat": 1, "keep": 1, "kept": 0,
		"read": 6, "readat": 4, "write": 10, "writestring": 1, "writeat": 5, "seek": 5, "truncate": 4, "sync": 1, "close": 4,
		"fstat": 3, "readdir": 2, "same": 2,
	} {
		for range n {
			all = append(all, do)
		}
	}
	return all
}

func posixOps() *rapid.Generator[posixOp] {
	calls := posixWeights()
	slices.Sort(calls) // a map has no order, and a seed must mean one program
	offsets := []int64{0, 1, 2, 3, 5, 8, 13, 100, 511, 512, 513, 4095, 4097, 70_000, -1, -3}
	return rapid.Custom(func(t *rapid.T) posixOp {
		o := posixOp{Do: rapid.SampledFrom(calls).Draw(t, "do")}
		switch o.Do {
		case "open":
			o.Name, o.Flag, o.Perm = posixName().Draw(t, "path"), posixFlags().Draw(t, "flags"), rapid.SampledFrom(posixModes()).Draw(t, "perm")
		case "rename", "link":
			o.Name, o.Name2 = posixName().Draw(t, "from"), posixName().Draw(t, "to")
		case "create", "mkdir", "mkdirall", "remove", "removeall", "chmod", "chown", "stat", "lstat", "keep", "same":
			o.Name, o.Perm = posixName().Draw(t, "path"), rapid.SampledFrom(posixModes()).Draw(t, "perm")
		}
		o.Slot = rapid.IntRange(0, 7).Draw(t, "slot")
		switch o.Do {
		case "read", "readat":
			o.N = rapid.SampledFrom([]int{0, 1, 2, 5, 17, 600}).Draw(t, "n")
		case "write", "writestring", "writeat":
			o.Data = rapid.SampledFrom([]string{"", "A", "bb", "ccc", "line\n", strings.Repeat("0123456789", 60)}).Draw(t, "data")
		case "seek":
			o.N = rapid.IntRange(0, 2).Draw(t, "whence")
		case "readdir":
			o.N = rapid.SampledFrom([]int{-1, 0, 1000}).Draw(t, "n")
		}
		o.Off = rapid.SampledFrom(offsets).Draw(t, "off")
		return o
	}).Filter(posixComparable)
}

// posixComparable leaves out, by name, what has no one right answer in the two places.
func posixComparable(o posixOp) bool {
	top := o.Name == "" || o.Name == "d/.."
	top2 := o.Name2 == "d/.." || o.Name2 == "" && (o.Do == "rename" || o.Do == "link")
	switch o.Do {
	case "remove", "removeall", "rename", "link":
		// The root of Mem is a real root, that of the folder has a folder above it.
		return !top && !top2
	}
	return true
}
