//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// onDemand hears SIGUSR1: somebody wants to know how far the run is.
func onDemand() <-chan os.Signal {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	return c
}
