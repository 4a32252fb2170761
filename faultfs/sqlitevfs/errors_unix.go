//go:build unix

package sqlitevfs

import "syscall"

// errQuota is a disk that is full for this user only.
const errQuota = syscall.EDQUOT
