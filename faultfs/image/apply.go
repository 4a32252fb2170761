package image

import (
	"fmt"

	"github.com/unplug-go/unplug/faultfs/trace"
)

// Apply performs a recorded operation by its inode numbers. Notes, syncs, locks and failed
// operations change nothing; a short write puts the bytes that reached the file, also when
// the program was told of an error. Errors name what the image does not hold: the operation
// was recorded on another one, or one before it was left out. Then nothing is changed.
func (m *Image) Apply(op trace.Op) error {
	if !op.Changes() {
		return nil
	}
	if err := m.check(op); err != nil {
		return fmt.Errorf("image: can not %v: %w", op, err)
	}
	switch op.Kind {
	case trace.Create, trace.Mkdir:
		m.AllocAt(op.Ino, op.Kind == trace.Mkdir, op.Mode)
		m.Bind(op.Dir, op.Entry(), op.Ino)
	case trace.Write:
		m.WriteAt(op.Ino, op.Data, op.Off)
	case trace.Truncate:
		m.Truncate(op.Ino, op.Size)
	case trace.Rename:
		if op.Target == op.Ino {
			break // two names of one file: the kernel does nothing
		}
		m.Bind(op.Dir2, op.Entry2(), op.Ino)
		m.Unbind(op.Dir, op.Entry())
	case trace.Remove:
		m.Unbind(op.Dir, op.Entry())
	case trace.Link:
		m.Bind(op.Dir2, op.Entry2(), op.Ino)
	case trace.Chmod:
		m.Chmod(op.Ino, op.Mode)
	default:
	}
	return nil
}

// check reports why an operation does not fit this image.
func (m *Image) check(op trace.Op) error {
	n := m.inode(op.Ino)
	switch op.Kind {
	case trace.Create, trace.Mkdir:
		if n != nil || op.Ino == 0 {
			return fmt.Errorf("inode %d is taken", op.Ino)
		}
		return m.checkDir(op.Dir)
	case trace.Write, trace.Truncate:
		if n != nil && n.dir {
			return fmt.Errorf("inode %d is a folder", op.Ino)
		}
	case trace.Rename, trace.Remove:
		if ino, ok := m.Child(op.Dir, op.Entry()); !ok || ino != op.Ino {
			return fmt.Errorf("no name %q for inode %d in folder %d", op.Entry(), op.Ino, op.Dir)
		}
	default:
	}
	if n == nil {
		return fmt.Errorf("no inode %d", op.Ino)
	}
	if op.Kind == trace.Rename || op.Kind == trace.Link {
		return m.checkDir(op.Dir2)
	}
	if op.Off < 0 || op.Size < 0 {
		return fmt.Errorf("offset %d, size %d", op.Off, op.Size)
	}
	return nil
}

func (m *Image) checkDir(ino trace.Ino) error {
	if n := m.inode(ino); n == nil || !n.dir {
		return fmt.Errorf("no folder %d", ino)
	}
	return nil
}
