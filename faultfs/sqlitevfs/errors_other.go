//go:build !unix

package sqlitevfs

import "syscall"

// errQuota is unknown here; a full disk is ENOSPC alone.
const errQuota = syscall.ENOSPC
