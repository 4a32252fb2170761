// Command unplug pulls the plug on a journal at every moment that matters and checks what
// comes back; and it examines journal files that a crash may have left. See `unplug --help`.
//
// Results go to stdout and everything else to stderr. Exit codes: 0 clean, 1 a promise is
// broken or a file is damaged, 2 wrong usage or configuration, 3 nothing worse than a partial
// tail, 4 inconclusive, 70 unplug itself failed, 130 interrupted.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // exploration makes short-lived images; a small heap can well grow
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	os.Exit(run(ctx, os.Args[1:], system()))
}
