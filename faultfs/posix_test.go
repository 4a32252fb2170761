//go:build linux

package faultfs_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/unplug-go/unplug/faultfs"
)

// posixKernel is the file system that is right by definition: a real folder.
func posixKernel(t require.TestingT, top string) *posixSide {
	dir, err := os.MkdirTemp(top, "root")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o700))
	return &posixSide{fs: afero.NewOsFs(), root: dir}
}

func posixMem(t require.TestingT) *posixSide {
	m := faultfs.NewMem(nil)
	m.SetUmask(posixUmask(t))
	return &posixSide{fs: m}
}

// posixUmask reads this process's umask; asking the kernel by umask(2) would change it.
func posixUmask(t require.TestingT) os.FileMode {
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(status), "\nUmask:")
	require.True(t, found, "no Umask line in /proc/self/status")
	line, _, _ := strings.Cut(rest, "\n")
	mask, err := strconv.ParseUint(strings.TrimSpace(line), 8, 32)
	require.NoError(t, err)
	return os.FileMode(mask)
}

// posixDiffer runs a program on both sides and tells where the answers differ first; "" is nowhere.
func posixDiffer(want, got *posixSide, program []posixOp) string {
	defer want.close()
	defer got.close()
	for _, o := range program {
		if w, g := want.run(o), got.run(o); w != g {
			return o.String() + "\n want " + w + "\n got  " + g
		}
	}
	return cmp.Diff(want.tree(), got.tree())
}

// TestPosix performs random programs on an image and on a real folder: every result, every
// error and the trees at the end must be equal.
func TestPosix(t *testing.T) {
	top := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		program := rapid.SliceOfN(posixOps(), 1, 80).Draw(t, "program")
		kernel := posixKernel(t, top)
		diff := posixDiffer(kernel, posixMem(t), program)
		require.NoError(t, os.RemoveAll(kernel.root))
		require.Empty(t, diff)
	})
}

// TestPosixPermissions names what is not compared.
func TestPosixPermissions(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may do everything, in Mem and in the kernel: there is no refusal to compare")
	}
	t.Skip("Mem treats everybody as root and refuses nothing; modes themselves are compared by TestPosix")
}

// TestPosixMapFsTraps runs each program on a real folder, on Mem, which must agree, and on
// afero.MemMapFs, which must not: a trap that this test would not notice is no case.
func TestPosixMapFsTraps(t *testing.T) {
	for _, c := range posixTraps() {
		t.Run(c.name, func(t *testing.T) {
			require.NotEmpty(t, c.reason)
			top := t.TempDir()
			require.Empty(t, posixDiffer(posixKernel(t, top), posixMem(t), c.program), c.reason)
			mapFs := &posixSide{fs: afero.NewMemMapFs(), root: "/root"}
			require.NoError(t, mapFs.fs.Mkdir("/root", 0o700))
			require.NotEmpty(t, posixDiffer(posixKernel(t, top), mapFs, c.program), "MemMapFs has mended this: drop the case")
		})
	}
}

// TestPosixCases runs programs that random ones seldom reach.
func TestPosixCases(t *testing.T) {
	for _, c := range posixCases() {
		t.Run(c.name, func(t *testing.T) {
			require.NotEmpty(t, c.reason)
			require.Empty(t, posixDiffer(posixKernel(t, t.TempDir()), posixMem(t), c.program), c.reason)
		})
	}
}

// TestPosixNotices breaks the copy in small ways: the comparison must see each.
func TestPosixNotices(t *testing.T) {
	first := []posixOp{{Do: "open", Name: "f", Flag: os.O_RDWR | os.O_CREATE, Perm: 0o600}, {Do: "write", Data: "ab"}}
	for name, harm := range map[string]func(m *posixSide) error{
		"byte": func(m *posixSide) error { return afero.WriteFile(m.fs, "/f", []byte("aB"), 0o600) },
		"size": func(m *posixSide) error { return afero.WriteFile(m.fs, "/f", []byte("ab\x00"), 0o600) },
		"mode": func(m *posixSide) error { return m.fs.Chmod("/f", 0o640) },
		"name": func(m *posixSide) error { return m.fs.Rename("/f", "/g") },
		"more": func(m *posixSide) error { return m.fs.Mkdir("/d", 0o700) },
		"root": func(m *posixSide) error { return m.fs.Chmod("/", 0o755) },
		"link": func(m *posixSide) error { return m.fs.(*faultfs.Mem).Link("/f", "/g") },
	} {
		t.Run(name, func(t *testing.T) {
			kernel, mem := posixKernel(t, t.TempDir()), posixMem(t)
			require.Empty(t, posixDiffer(kernel, mem, first))
			require.NoError(t, harm(mem))
			require.NotEmpty(t, cmp.Diff(kernel.tree(), mem.tree()))
		})
	}
}
