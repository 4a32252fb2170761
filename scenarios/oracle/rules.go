package oracle

// Rule is a promise with a stable ID.
type Rule struct {
	ID      string
	Name    string
	What    string // one sentence: what must hold
	Risk    string // what a user loses when it does not
	Next    string // what the journal's author does about it
	Vacuity bool   // not a promise of the journal: the run itself tested nothing
}

// Rules are all the rules that this suite checks, in the order of their IDs.
func Rules() []Rule {
	return []Rule{
		{
			ID: "UP201", Name: "acknowledged record lost",
			What: "Every acknowledged record is in what recovery returns; under model synced, recovery returns exactly the records covered by a completed sync.",
			Risk: "A user is told that something is saved, and after a power cut or a kill it is gone.",
			Next: "Sync the file before the call returns, check the sync's error, and look in the story for the first sync that is missing.",
		},
		{
			ID: "UP202", Name: "record invented or out of order",
			What: "What recovery returns is a prefix of what was appended: in order, byte for byte, nothing twice, nothing that was never appended.",
			Risk: "The journal hands out a history that never happened; a replay acts on it.",
			Next: "Verify each line (checksum, sequence), cut a torn tail and sync the cut before the next append, and never skip a bad line.",
		},
		{
			ID: "UP203", Name: "silent damage",
			What: "Damage to synced bytes that the contract says it detects is answered with a typed corruption error, never with fewer or other records.",
			Risk: "A damaged record is taken for the truth, or acknowledged records vanish without a word.",
			Next: "Fail closed on a bad line that is not an unterminated tail; give each line a checksum over its raw bytes.",
		},
		{
			ID: "UP204", Name: "tail not honestly reported",
			What: "Recovery reports a partial tail, with offset and length, exactly when bytes follow the last accepted line.",
			Risk: "Nobody learns that bytes were left aside, or an alarm is raised over a clean file.",
			Next: "Report offset and length of what follows the last accepted line, up to the end of the file; report nothing when nothing follows.",
		},
		{
			ID: "UP205", Name: "legal crash state refused",
			What: "A state that the model allows opens, unless the contract accepts refusal there (then it is counted as refused).",
			Risk: "A session that a crash only interrupted can no longer be opened at all.",
			Next: "Tell a torn tail from damage: only what a synced, later line vouches for is certainly damage.",
		},
		{
			ID: "UP206", Name: "does not go on after recovery",
			What: "After recovery one more append is durable, and the next recovery returns what was there plus it.",
			Risk: "The worst losses come here: the new record is glued to an old torn tail and both are lost.",
			Next: "Cut the tail (or end its line), sync, and only then append.",
		},
		{
			ID: "UP207", Name: "recovery not idempotent",
			What: "What an open for writing returned, the next recovery returns again; after a cut inside it, nothing acknowledged is missing and nothing is new.",
			Risk: "Each restart shows another history.",
			Next: "Sync what an open accepts before building on it; make repair steps repeatable.",
		},
		{
			ID: "UP208", Name: "hands not off",
			What: "A failed open changes no byte and no name; a read-only open never writes and takes no lock.",
			Risk: "The evidence is destroyed by the attempt to read it.",
			Next: "Verify everything first, and write only when the open will succeed; give readers a path without repair.",
		},
		{
			ID: "UP210", Name: "compaction torn apart",
			What: "After a cut between compaction markers there is the state before, the new history with its unwritten baselines null, or the full state after.",
			Risk: "The model is given a baseline that belongs to another history.",
			Next: "Write the compacted marker first, as the commit point, and clear older baselines when it is read.",
		},
		{
			ID: "UP211", Name: "name lost",
			What: "A journal that was created, rotated or replaced keeps its name: every folder level is synced before the first acknowledgement.",
			Risk: "The whole file is gone, although every byte of it was synced.",
			Next: "Sync the folder, and every new folder above it, after creating or renaming a file.",
		},
		{
			ID: "UP401", Name: "no operations", Vacuity: true,
			What: "The run saw file operations of the journal.",
			Risk: "A green result that tested nothing.",
			Next: "Make the journal use the file system that it is given (a journal that calls package os directly needs another way in).",
		},
		{
			ID: "UP402", Name: "no syncs", Vacuity: true,
			What: "The run saw at least one completed sync.",
			Risk: "Nothing was ever durable, so nothing could be lost.",
			Next: "Let the workload sync, or look why the journal never does.",
		},
		{
			ID: "UP403", Name: "nothing cut", Vacuity: true,
			What: "The run judged at least one crash state.",
			Risk: "A green result that tested nothing.",
			Next: "Raise the budget, or loosen --cut so that some cut matches.",
		},
		{
			ID: "UP404", Name: "nothing recovered", Vacuity: true,
			What: "At least one judged state gave a record back.",
			Risk: "A recovery that always returns nothing passes every rule about what it returns.",
			Next: "Look whether Recover reads the path that Open wrote.",
		},
		{
			ID: "UP405", Name: "plan rule never applied", Vacuity: true,
			What: "Every rule of the fault plan fired at least once.",
			Risk: "A fault that was meant to be tested never happened.",
			Next: "Check the rule's path pattern and count against the ops in the trace.",
		},
	}
}

// FindRule looks a rule up by ID.
func FindRule(id string) (Rule, bool) {
	for _, r := range Rules() {
		if r.ID == id {
			return r, true
		}
	}
	return Rule{}, false
}
