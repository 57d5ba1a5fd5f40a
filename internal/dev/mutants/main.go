package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"syscall"
)

// order has the values of the command's flags: what to mutate, and how much.
type order struct {
	of     string
	in     string
	only   string
	by     string
	list   bool
	unseen bool
	seeds  int
	sample int
	seed   uint64
	least  int
}

func main() {
	var o order
	flag.StringVar(&o.of, "of", "rules", "whose mutants: rules, or answers")
	flag.StringVar(&o.in, "in", "", "only packages whose path matches this expression: the others are not changed, which is quicker than -only")
	flag.StringVar(&o.only, "only", "", "mutants whose name matches this expression; without it all")
	flag.StringVar(&o.by, "by", "", "only suites whose name matches this expression: how much some of the tests notice")
	flag.BoolVar(&o.list, "list", false, "name the mutants and run nothing")
	flag.BoolVar(&o.unseen, "unseen", false, "list the mutants that no test reaches in a state in which they could matter, and try none")
	flag.IntVar(&o.seeds, "seeds", 6, "simulated seeds for what the other tests of rules do not kill; 0 for none")
	flag.IntVar(&o.sample, "sample", -1, "so many of the mutants, drawn by -seed; 0 for all. Without it all of rules and of what -only names, and 500 of answers")
	flag.Uint64Var(&o.seed, "seed", 1, "by which the sample is drawn")
	flag.IntVar(&o.least, "least", 0, "so many of a hundred must be killed or have a reason; without it all of rules, and 90 of answers")
	flag.Parse()
	ctx, stop := untilAsked(context.Background())
	defer stop()
	clean, err := run(ctx, &o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if !clean {
		os.Exit(1)
	}
}

// untilAsked returns a context that ends on interrupt, termination or hang-up. So an interrupted run still removes
// its directory, which has gigabytes of test binaries.
func untilAsked(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// byDefault sets, where flags do not, how many mutants are tried and which share of them tests must notice, as the
// scope says. If -only names mutants, all of them are tried.
func (o *order) byDefault(s *scope) {
	if o.sample < 0 && o.only == "" {
		o.sample = s.sample
	}
	o.sample, o.least = max(o.sample, 0), cmp.Or(o.least, s.least)
}

// expressions returns the values of the flags -in, -only and -by as regular expressions.
func (o *order) expressions() (in, only, by *regexp.Regexp, err error) {
	in, inErr := regexp.Compile(o.in)
	only, onlyErr := regexp.Compile(o.only)
	by, byErr := regexp.Compile(o.by)
	return in, only, by, errors.Join(inErr, onlyErr, byErr)
}

const equivalentFile = "internal/dev/mutants/equivalent.txt"

// run creates the mutants and runs the tests against them. clean is false if too many mutants survive without a reason
// in equivalent.txt, or if a reason there is not needed.
func run(ctx context.Context, o *order) (clean bool, err error) {
	scope, err := scopeOf(o.of)
	if err != nil {
		return false, err
	}
	o.byDefault(scope)
	in, matching, judging, err := o.expressions()
	if err != nil {
		return false, err
	}
	packages := slices.DeleteFunc(slices.Clone(scope.packages), func(path string) bool { return !in.MatchString(path) })
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
	maps.DeleteFunc(reasons, func(name, _ string) bool { return !scope.holds(name) })
	asked := slices.DeleteFunc(mutants, func(m *mutant) bool { return !matching.MatchString(m.name()) })
	asked = drawn(asked, o.sample, o.seed)
	if o.list {
		for _, m := range asked {
			fmt.Println(m.name())
		}
		return true, nil
	}
	suites := slices.DeleteFunc(scope.suites(o.seeds), func(s *suite) bool { return !judging.MatchString(s.name) })
	if o.unseen {
		suites = whole(suites)
	}
	if err := build(ctx, dir, overlay, suites); err != nil {
		return false, err
	}
	if o.unseen {
		return tellUnseen(asked, suites, reasons), nil
	}
	if err := try(ctx, suites, asked, reasons); err != nil {
		return false, err
	}
	return report(asked, reasons, scope, o.in == "" && o.only == "" && o.sample == 0, o.least), nil
}
