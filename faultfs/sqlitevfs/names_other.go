//go:build !windows

package sqlitevfs

// syncsFolders says whether the platform can sync a folder, and so must.
const syncsFolders = true
