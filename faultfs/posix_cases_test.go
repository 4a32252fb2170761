//go:build linux

package faultfs_test

import "os"

type posixCase struct {
	name, reason string
	program      []posixOp
}

const (
	posixRW  = os.O_RDWR | os.O_CREATE
	posixAdd = os.O_WRONLY | os.O_CREATE | os.O_APPEND
)

func posixOpen(name string, flag int) posixOp {
	return posixOp{Do: "open", Name: name, Flag: flag, Perm: 0o700}
}

func posixWrite(slot int, data string) posixOp { return posixOp{Do: "write", Slot: slot, Data: data} }

// posixTraps are the ways in which afero.MemMapFs (v1.15.0) is no disk.
func posixTraps() []posixCase {
	return []posixCase{
		{"two appenders", "O_APPEND finds the end at every write: a second resume of one session must not overwrite the first", []posixOp{
			posixOpen("f", posixAdd), posixOpen("f", posixAdd),
			posixWrite(0, "AAAA"), posixWrite(1, "bb"), posixWrite(0, "CCC"),
		}},
		{"append after truncate", "recovery cuts the tail and goes on: a gap of NULs would be damage", []posixOp{
			posixOpen("f", posixAdd), posixWrite(0, "one\ntwo\nthr"), {Do: "truncate", Off: 8}, posixWrite(0, "three\n"),
		}},
		{"sync after close", "a journal that syncs a closed file has synced nothing and must hear of it", []posixOp{
			posixOpen("f", posixRW), {Do: "close"}, {Do: "sync"},
		}},
		{"missing parent", "a folder that was not made is an error, not made on the way", []posixOp{posixOpen("d/f", posixRW)}},
		{"rename over a full folder", "what is in a folder does not vanish under a rename", []posixOp{
			{Do: "mkdir", Name: "a", Perm: 0o700},
			{Do: "mkdir", Name: "b", Perm: 0o700},
			posixOpen("b/f", posixRW),
			{Do: "rename", Name: "a", Name2: "b"},
		}},
		{"remove a full folder", "Remove takes away empty folders only", []posixOp{
			{Do: "mkdir", Name: "d", Perm: 0o700}, posixOpen("d/f", posixRW), {Do: "remove", Name: "d"},
		}},
		{"same file", "how a journal notices that its path leads elsewhere by now", []posixOp{
			posixOpen("f", posixRW), {Do: "same", Name: "f"},
		}},
		{"another file", "the same after a rename over it", []posixOp{
			posixOpen("f", posixRW), posixOpen("g", posixRW),
			{Do: "rename", Name: "g", Name2: "f"},
			{Do: "same", Name: "f"},
			{Do: "same", Slot: 1, Name: "f"},
		}},
		{"read a write-only handle", "a handle has the access that it was opened with", []posixOp{
			posixOpen("f", os.O_WRONLY|os.O_CREATE), posixWrite(0, "x"), {Do: "readat", N: 1}, {Do: "read", N: 1},
		}},
		{"write a read-only handle", "a reader that writes must hear of it", []posixOp{
			posixOpen("f", posixRW), posixOpen("f", os.O_RDONLY), posixWrite(1, "x"), {Do: "writeat", Slot: 1, Data: "x"}, {Do: "truncate", Slot: 1},
		}},
		{"read past the end", "io.EOF is the end; ErrUnexpectedEOF would be a torn record", []posixOp{
			posixOpen("f", posixRW), posixWrite(0, "abc"), {Do: "readat", N: 2, Off: 9},
		}},
		{"short read at", "io.ReaderAt owes an error with fewer bytes", []posixOp{
			posixOpen("f", posixRW), posixWrite(0, "abc"), {Do: "readat", N: 9, Off: 1},
		}},
		{"write at and the position", "WriteAt leaves the position alone", []posixOp{
			posixOpen("f", posixRW), posixWrite(0, "abc"), {Do: "writeat", Data: "X", Off: 0}, posixWrite(0, "d"),
		}},
		{"write at with O_APPEND", "package os refuses it", []posixOp{posixOpen("f", posixAdd), {Do: "writeat", Data: "X", Off: 0}}},
		{"create over a file", "it is the same file, cut: an open handle sees that", []posixOp{
			posixOpen("f", posixRW), posixWrite(0, "abc"), {Do: "create", Name: "f"}, {Do: "fstat"}, {Do: "same", Name: "f"},
		}},
		{"unlink under a handle", "the handle goes on, and a new file of that name is another", []posixOp{
			posixOpen("f", posixRW), posixWrite(0, "abc"),
			{Do: "remove", Name: "f"},
			posixOpen("f", posixRW),
			posixWrite(0, "d"),
			{Do: "fstat"},
			{Do: "fstat", Slot: 1},
			{Do: "readat", N: 9},
			{Do: "same", Name: "f"},
		}},
		{"a file holds nothing", "a path through a file is ENOTDIR", []posixOp{posixOpen("f", posixRW), posixOpen("f/g", posixRW)}},
		{"description is a snapshot", "sizes that are compared before and after must not both be after", []posixOp{
			posixOpen("f", posixRW), {Do: "keep", Name: "f"}, posixWrite(0, "abc"), {Do: "kept"},
		}},
		{"closed handle", "errors.Is(err, fs.ErrClosed) tells a bug from a broken disk", []posixOp{
			posixOpen("f", posixRW), {Do: "close"}, {Do: "read", N: 1}, posixWrite(0, "x"), {Do: "seek"}, {Do: "fstat"}, {Do: "truncate"}, {Do: "close"},
		}},
		{"open a folder for writing", "a journal path that is a folder is EISDIR", []posixOp{
			{Do: "mkdir", Name: "d", Perm: 0o700}, posixOpen("d", os.O_RDWR), posixOpen("d", posixRW),
		}},
		{"negative offsets", "an offset that was computed wrong is an error", []posixOp{
			posixOpen("f", posixRW), {Do: "seek", Off: -1}, {Do: "readat", N: 1, Off: -1}, {Do: "writeat", Data: "x", Off: -1}, {Do: "truncate", Off: -1},
		}},
		{"long name", "a name has 255 bytes", []posixOp{posixOpen(posixNames()[30], posixRW)}},
	}
}

// posixCases are for what random programs seldom reach.
func posixCases() []posixCase {
	mk := func(name string) posixOp { return posixOp{Do: "mkdir", Name: name, Perm: 0o700} }
	return []posixCase{
		{"partial listings", "n > 0 counts, and io.EOF comes alone", []posixOp{
			mk("d"), mk("d/a"), mk("d/b"), mk("d/c"), posixOpen("d", os.O_RDONLY),
			{Do: "readdirn", N: 2},
			{Do: "readdirn", N: 2},
			{Do: "readdirn", N: 2},
			{Do: "readdirn", N: -1},
			{Do: "readdir", N: 1},
			{Do: "seek"},
			{Do: "readdirn", N: 9},
			{Do: "seek"},
			{Do: "readdir", N: -1},
			{Do: "readdir", N: -1},
		}},
		{"names that go while they are listed", "they are left out, but counted", []posixOp{
			mk("d"), mk("d/a"), mk("d/b"), mk("d/c"), mk("d/e"), posixOpen("d", os.O_RDONLY),
			{Do: "readdirn", N: 1},
			{Do: "remove", Name: "d/a"},
			{Do: "remove", Name: "d/b"},
			{Do: "remove", Name: "d/c"},
			{Do: "remove", Name: "d/e"},
			{Do: "readdir", N: 2},
			{Do: "readdir", N: 2},
			{Do: "readdir", N: 2},
		}},
		{"listing a removed folder", "an open folder outlives its name and is empty", []posixOp{
			mk("d"), posixOpen("d", os.O_RDONLY), {Do: "remove", Name: "d"}, {Do: "readdir", N: -1}, {Do: "readdir", N: 1}, {Do: "fstat"}, {Do: "sync"},
		}},
		{"listing a file", "ENOTDIR", []posixOp{posixOpen("f", posixRW), {Do: "readdir", N: -1}, {Do: "readdirn", N: 1}}},
		{"listing a closed folder", "an error", []posixOp{mk("d"), posixOpen("d", os.O_RDONLY), {Do: "close"}, {Do: "readdir", N: -1}}},
		{"reading a folder", "EISDIR", []posixOp{mk("d"), posixOpen("d", os.O_RDONLY), {Do: "read", N: 1}, {Do: "read"}, {Do: "readat", N: 1}, posixWrite(0, "x"), {Do: "truncate"}}},
		{"folder into itself", "EINVAL", []posixOp{mk("d"), mk("d/e"), {Do: "rename", Name: "d", Name2: "d/n"}, {Do: "rename", Name: "d", Name2: "d/e/n"}, {Do: "rename", Name: "d", Name2: "d"}}},
		{"folder over its parent", "EEXIST of package os comes before the kernel's ENOTEMPTY", []posixOp{mk("d"), mk("d/e"), {Do: "rename", Name: "d/e", Name2: "d"}}},
		{"folder over an empty folder", "POSIX would; package os refuses", []posixOp{mk("d"), mk("e"), {Do: "rename", Name: "d", Name2: "e"}}},
		{"folder and file, both ways", "ENOTDIR and EEXIST", []posixOp{mk("d"), posixOpen("f", posixRW), {Do: "rename", Name: "d", Name2: "f"}, {Do: "rename", Name: "f", Name2: "d"}}},
		{"moved folder", "what it holds moves with it, and .. leads to the new place", []posixOp{
			mk("d"), mk("e"), posixOpen("d/f", posixRW), posixWrite(0, "x"), {Do: "rename", Name: "d", Name2: "e/d"}, {Do: "stat", Name: "e/d/../d/f"}, {Do: "stat", Name: "d"},
		}},
		{"rename between two names of one file", "the kernel does nothing and keeps both", []posixOp{
			posixOpen("f", posixRW), {Do: "link", Name: "f", Name2: "g"}, {Do: "rename", Name: "f", Name2: "g"}, {Do: "remove", Name: "f"}, {Do: "same", Name: "g"},
		}},
		{"link refusals", "EEXIST, EPERM for a folder, ENOENT", []posixOp{
			mk("d"), posixOpen("f", posixRW),
			{Do: "link", Name: "f", Name2: "d"},
			{Do: "link", Name: "d", Name2: "e"},
			{Do: "link", Name: "x", Name2: "y"},
			{Do: "link", Name: "f", Name2: "g/"},
			{Do: "link", Name: "f/", Name2: "g"},
			{Do: "link", Name: "f", Name2: "x/g"},
		}},
		{"truncate by a read-only open", "O_TRUNC cuts even then", []posixOp{posixOpen("f", posixRW), posixWrite(0, "abc"), posixOpen("f", os.O_RDONLY|os.O_TRUNC), {Do: "fstat"}}},
		{"position past the end", "a write there leaves a hole of zeros", []posixOp{
			posixOpen("f", posixRW), {Do: "seek", Off: 5000}, {Do: "read", N: 3}, posixWrite(0, "x"), {Do: "readat", N: 10, Off: 4995},
		}},
		{"cut and extend", "cut bytes do not come back", []posixOp{
			posixOpen("f", posixRW), posixWrite(0, "abcdef"), {Do: "truncate", Off: 2}, {Do: "truncate", Off: 6}, {Do: "readat", N: 6}, posixWrite(0, "g"),
		}},
		{"position of an appender", "it stands at the end after a write", []posixOp{
			posixOpen("f", posixRW|os.O_APPEND), posixWrite(0, "abc"), {Do: "seek"}, posixWrite(0, "de"), {Do: "seek", N: 1}, {Do: "seek"}, {Do: "read", N: 9},
		}},
		{"whence", "EINVAL", []posixOp{posixOpen("f", posixRW), {Do: "seek", N: 9}, {Do: "seek", N: -1}}},
		{"times", "to the second", []posixOp{
			posixOpen("f", posixRW),
			{Do: "chtimes", Name: "f", Off: 1_000_000_000},
			{Do: "time", Name: "f"},
			{Do: "chtimes", Name: "f", Off: -5},
			{Do: "time", Name: "f"},
			{Do: "chtimes", Name: "g", Off: 1},
			{Do: "chown", Name: "g"},
			{Do: "chmod", Name: "g"},
			{Do: "time", Name: "g"},
		}},
		{"mode bits of folders", "mkdir keeps the sticky bit, chmod all twelve", []posixOp{
			{Do: "mkdir", Name: "d", Perm: os.ModeSticky | os.ModeSetuid | 0o777}, {Do: "stat", Name: "d"}, {Do: "chmod", Name: "d", Perm: os.ModeSetgid | 0o750}, {Do: "stat", Name: "d"},
		}},
		{"names that end in dots", "no name to make or take away", []posixOp{
			mk("d"), mk("d/e"), mk("d/."), mk("d/e/.."), mk("x/."),
			{Do: "mkdirall", Name: "n/m/.", Perm: 0o700},
			{Do: "remove", Name: "d/e/."},
			{Do: "remove", Name: "d/e/.."},
			{Do: "rename", Name: "d/e/.", Name2: "z"},
			{Do: "rename", Name: "d/e", Name2: "y/."},
			{Do: "removeall", Name: "d/e/."},
			posixOpen("d/.", posixRW), posixOpen("d/.", os.O_RDONLY),
			posixOpen("d/.", posixRW|os.O_EXCL),
			{Do: "link", Name: "d", Name2: "d/."},
		}},
		{"slashes behind names", "they ask for a folder", []posixOp{
			posixOpen("f", posixRW), posixOpen("f/", os.O_RDONLY), posixOpen("f/", posixRW), posixOpen("n/", posixRW), posixOpen("n/", os.O_RDONLY),
			{Do: "remove", Name: "f/"},
			{Do: "rename", Name: "f/", Name2: "g"},
			{Do: "rename", Name: "f", Name2: "g/"},
			{Do: "stat", Name: "f/"},
			mk("d/"),
			{Do: "rename", Name: "d/", Name2: "e/"},
			{Do: "stat", Name: "e///"},
			{Do: "remove", Name: "e/"},
			{Do: "removeall", Name: "f/"},
			{Do: "stat", Name: "f"},
		}},
		{"whole trees", "MkdirAll and RemoveAll go through files no more than Mkdir does", []posixOp{
			{Do: "mkdirall", Name: "a/b/c", Perm: 0o750},
			posixOpen("a/b/f", posixRW),
			{Do: "mkdirall", Name: "a/b/f/g", Perm: 0o700},
			{Do: "mkdirall", Name: "a/b/f", Perm: 0o700},
			{Do: "removeall", Name: "a/b/f/g"},
			{Do: "removeall", Name: "none/x"},
			{Do: "removeall", Name: "a"},
			posixWrite(0, "still here"),
			{Do: "fstat"},
			{Do: "removeall", Name: "a"},
		}},
	}
}
