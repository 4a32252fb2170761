//go:build !windows

package journal

// syncsFolders: a folder's names become durable when the folder is synced.
const syncsFolders = true
