package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/afero"
)

const (
	fileMode   fs.FileMode = 0o600
	folderMode fs.FileMode = 0o700
)

// createFile makes a file that must not be there, with its mode under any umask.
func createFile(fsys afero.Fs, path string) (afero.File, error) {
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, fileMode)
	if err != nil {
		return nil, err
	}
	if err := setMode(fsys, path, fileMode); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// setMode mends what the umask took. Windows knows only a read-only bit, which is not set.
func setMode(fsys afero.Fs, path string, mode fs.FileMode) error {
	info, err := fsys.Stat(path)
	if err != nil || info.Mode().Perm() == mode || !syncsFolders {
		return err
	}
	return fsys.Chmod(path, mode)
}

// makeFolders makes dir and what is missing above it, and gives the topmost folder that got a
// new name in it: dir itself if nothing was missing.
func makeFolders(fsys afero.Fs, dir string) (top string, err error) {
	var missing []string
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		top = d
		_, err := fsys.Stat(d)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			return "", err
		}
		missing = append(missing, d)
	}
	for _, d := range slices.Backward(missing) {
		if err := fsys.Mkdir(d, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		if err := setMode(fsys, d, folderMode); err != nil {
			return "", err
		}
	}
	return top, nil
}

// syncNames makes the names of dir and of what is above it durable, up to root and up to top.
func syncNames(fsys afero.Fs, dir, top string, opt *Options) error {
	folders, err := above(opt.Root, dir)
	if err != nil {
		return err
	}
	if higher, err := above(top, dir); err == nil && len(higher) > len(folders) {
		folders = higher
	}
	for _, d := range folders {
		if err := syncFolder(fsys, d, opt); err != nil {
			return err
		}
	}
	return nil
}

// syncFolder makes the names in a folder durable.
func syncFolder(fsys afero.Fs, dir string, opt *Options) error {
	if !syncsFolders {
		return nil
	}
	d, err := fsys.Open(dir)
	if err != nil {
		return fmt.Errorf("journal: syncing the folder %s: %w", dir, err)
	}
	err = d.Sync()
	closed := d.Close()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		if opt.AllowNoFolderSync {
			return closed
		}
		return &UnsupportedError{Path: dir, What: lacksFolderSync, Err: err}
	}
	if err = errors.Join(err, closed); err != nil {
		return fmt.Errorf("journal: syncing the folder %s: %w", dir, err)
	}
	return nil
}
