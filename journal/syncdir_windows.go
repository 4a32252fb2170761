package journal

// syncsFolders: Windows has no call that makes a folder's names durable, so that none is made
// there; NTFS logs them by itself. A power cut may then lose the name of a new journal.
const syncsFolders = false
