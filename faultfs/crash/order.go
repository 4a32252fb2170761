package crash

import "slices"

// Order is, for each model of a power cut, the models that allow every state that it
// allows, at equal options: whoever survives one of those survives it too. Tear units
// must be equal, except that what [Prefix] tears at whole pages is allowed by the models
// that stand in its list at any unit: at finer units it stops at sizes that no other model
// leaves, as they step by pages and whole writes.
//
// kill is not in it: a killed process and a power cut leave states of different kinds.
// [LyingFlush] is wider than its base and stands for a different broken promise. After a
// sync with the result fail-clean, fail-late or fail-ro the table does not hold: what such a
// sync loses is what the model had not made durable before.
func Order(m Model) []Model {
	switch m {
	case Synced:
		return []Model{PosixWorst}
	case Prefix:
		return []Model{Contiguous, OwnPage, Ext4Ordered, Ext4OOO, Writeback, PosixWorst}
	case Contiguous:
		return []Model{OwnPage, Ext4OOO, Writeback, PosixWorst}
	case Ext4Ordered:
		return []Model{Ext4OOO, Writeback, PosixWorst}
	case OwnPage, Ext4OOO:
		return []Model{Writeback, PosixWorst}
	case Writeback:
		return []Model{PosixWorst}
	default:
		return nil
	}
}

// Weaker reports whether a allows only states that b allows too, as [Order] has it: b is
// the harder model to survive.
func Weaker(a, b Model) bool {
	return slices.Contains(Order(a), b)
}
