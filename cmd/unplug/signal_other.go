//go:build !unix

package main

import "os"

// onDemand hears nothing: the platform has no signal for it.
func onDemand() <-chan os.Signal { return nil }
