package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
)

func main() {
	only := flag.String("only", "", "mutants whose name matches this expression; without it all")
	list := flag.Bool("list", false, "name the mutants and run nothing")
	seeds := flag.Int("seeds", 6, "simulated seeds for what the other tests do not kill; 0 for none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	clean, err := run(ctx, *only, *list, *seeds)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if !clean {
		os.Exit(1)
	}
}

// The packages that hold the rules, from the repository's root.
var packages = []string{"./projector", "./reconciler"}

const equivalentFile = "internal/mutants/equivalent.txt"

// run makes the mutants and tries them; clean is false when one survives without a reason, or a reason has no survivor.
func run(ctx context.Context, only string, list bool, seeds int) (clean bool, err error) {
	matching, err := regexp.Compile(only)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	mutants, overlay, err := mutate(ctx, dir, packages)
	if err != nil {
		return false, err
	}
	reasons, err := readReasons(equivalentFile)
	if err != nil {
		return false, err
	}
	chosen := mutants[:0:0]
	for _, m := range mutants {
		if matching.MatchString(m.name()) {
			chosen = append(chosen, m)
		}
	}
	if list {
		for _, m := range chosen {
			fmt.Println(m.name())
		}
		return true, nil
	}
	suites, err := build(ctx, dir, overlay, seeds)
	if err != nil {
		return false, err
	}
	if err := try(ctx, suites, chosen, reasons); err != nil {
		return false, err
	}
	return report(chosen, reasons, only == ""), nil
}
