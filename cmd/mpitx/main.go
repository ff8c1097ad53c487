// Mpitx explores what an MPI library exposes through the MPI tool information interface.
package main

import "os"

//go:generate go test -run TestGenerated -update .

func main() { os.Exit(run(os.Args[1:])) }
