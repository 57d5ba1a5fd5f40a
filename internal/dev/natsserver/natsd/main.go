package main

import (
	"fmt"
	"os"

	"github.com/jobledger/jobledger/internal/dev/natsserver"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: natsd DIR PORT [PEER …]")
		os.Exit(2)
	}
	if err := natsserver.Serve(os.Args[1], os.Args[2], os.Args[3:]...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
