// Command bench runs Jobledger and the built-in Job controller side by side and prints the cost of each workload; see
// package bench. It exits with status 1 if an outcome was wrong or if the number of requests or commits has grown.
//
//	go run ./cmd/bench --quick
//	go run ./cmd/bench --workloads w1,w3 --rounds 5 --json result.json
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/jobledger/jobledger/test/bench"
	"github.com/jobledger/jobledger/test/bench/link"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == bench.LinkCommand {
		os.Exit(network(os.Args[2:]))
	}
	os.Exit(run(os.Args[1:]))
}

// network runs the simulation of the network between a controller and its API server, until a signal ends it. args are
// those of link.Args.
func network(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := link.Main(ctx, args, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		return exitFailed
	}
	return 0
}

// Exit statuses of the command.
const (
	exitFailed = 1
	exitUsage  = 2
)

func run(args []string) int {
	config := bench.Config{Progress: os.Stderr}
	var workloads, contenders, to, baseline, seed string
	var update bool
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&config.Setting.Profile, "profile", "", "how pods live: life (default), instant, or cluster (kube-scheduler and kwok)")
	flags.StringVar(&config.Setting.Network, "network", "", "between a contender and its API server: loopback (default), 2ms or 20ms (and 100 Mbit/s)")
	flags.StringVar(&config.Setting.Place, "place", "", "processors of the API server: same (default) as the contender's, or other")
	flags.StringVar(&seed, "seed", "1", "draws how long pods run and which fail: a number, or date for today's")
	flags.BoolVar(&config.Quick, "quick", false, "small sizes, one round: some eight minutes")
	flags.IntVar(&config.Rounds, "rounds", 0, "how often each contender runs each workload (default 3, quick 1)")
	flags.StringVar(&workloads, "workloads", "", "which, separated by commas (default: all of "+strings.Join(bench.Names(), ",")+")")
	flags.StringVar(&contenders, "contenders", "", "jobledger or builtin alone (default: both)")
	flags.StringVar(&config.Program, "program", "", "the jobledger to run (default: it is built)")
	flags.StringVar(&to, "json", "", "file for the results as JSON")
	flags.StringVar(&baseline, "baseline", "", "file with the ratios to compare with")
	flags.BoolVar(&update, "update", false, "put the ratios of this run into the baseline")
	flags.BoolVar(&config.Observer, "observer", false, "have jobledger run --manage=observe look on while the built-in runs Jobs, and say what that costs")
	flags.BoolVar(&config.Keep, "keep", false, "keep all files, and say where they are")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil || flags.NArg() > 0:
		fmt.Fprintln(os.Stderr, "bench: see --help")
		return exitUsage
	}
	var err error
	if config.Setting.Seed, err = bench.ParseSeed(seed, time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return exitUsage
	}
	if config.Self, err = os.Executable(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return exitFailed
	}
	config.Workloads, config.Contenders = list(workloads), list(contenders)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	status, err := compare(ctx, config, to, baseline, update)
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		return exitFailed
	}
	return status
}

func list(names string) []string {
	if names == "" {
		return nil
	}
	return strings.Split(names, ",")
}

// compare runs the bench, prints the report, and writes it to the file `to`. The file baseline has ratios of earlier
// runs, with which the report is compared; if update is true, it is overwritten with the new ratios.
func compare(ctx context.Context, config bench.Config, to, baseline string, update bool) (status int, err error) {
	base, err := bench.ReadBaseline(baseline)
	if err != nil {
		return 0, err
	}
	report, err := bench.Run(ctx, config)
	if err != nil {
		return 0, err
	}
	if err := report.Write(os.Stdout, base); err != nil {
		return 0, err
	}
	if to != "" {
		text, err := json.MarshalIndent(report, "", "  ")
		if err == nil {
			err = os.WriteFile(to, append(text, '\n'), 0o644)
		}
		if err != nil {
			return 0, fmt.Errorf("write the results: %w", err)
		}
	}
	if report.Dir != "" {
		fmt.Fprintln(os.Stderr, "All files are in", report.Dir)
	}
	for _, line := range report.Wrong() {
		fmt.Fprintln(os.Stderr, "WRONG:", line)
		status = exitFailed
	}
	for _, line := range report.Grown() {
		fmt.Fprintln(os.Stderr, "GROWN:", line)
		status = exitFailed
	}
	if update && status == 0 {
		return status, base.Update(report, baseline)
	}
	return status, nil
}
