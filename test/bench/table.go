package bench

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Write prints the report as a table: medians and ratios of every workload, the baseline's ratios beside them, and
// facts about the run.
func (r *Report) Write(w io.Writer, base Baseline) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	before := base.ratios(r)
	for _, o := range r.Outcomes {
		fmt.Fprintf(table, "\n%s  %s\n", o.Workload, o.Title)
		fmt.Fprintf(table, "  \t%s\t%s\tratio\tbaseline\t\n", Ours, Builtin)
		for _, f := range Figures {
			o.row(table, f, before[o.Workload])
		}
		o.requestRows(table)
		fmt.Fprintf(table, "  duplicates, losses\t%s\t%s\t\t\t\n", o.faults(Ours), o.faults(Builtin))
		fmt.Fprintf(table, "  others had at most %.0f %% of the machine\n", 100*o.Others)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	_, err := fmt.Fprintf(w, "\n%s, seed %d, Kubernetes %s, %s, %d × %s; %s, %d rounds, %s; the bench itself used %s of CPU.\n"+
		"Medians over the rounds; ratio is %s ÷ %s within one round, and all that may be carried to another machine.\n"+
		"RSS is without the pages of the program's own file, of which the kernel maps more or fewer.\n",
		r.At.Format(time.RFC3339), r.Setting.Seed, r.Kubernetes, r.Go, r.CPUs, r.Processor, r.size(), r.Rounds, r.Took.Round(time.Second),
		r.Bench.Round(time.Second), Ours, Builtin)
	return err
}

func (o *Outcome) row(w io.Writer, f Figure, before map[string]float64) {
	ours, ok := o.Medians[Ours][f.Key]
	theirs, also := o.Medians[Builtin][f.Key]
	if !ok && !also {
		return
	}
	cells := []string{"-", "-", "", ""}
	if ok {
		cells[0] = f.format(ours)
	}
	if also {
		cells[1] = f.format(theirs)
	}
	ratio, compared := o.Ratios[f.Key]
	if compared {
		cells[2] = format(ratio)
	}
	note := ""
	if was, ok := before[f.Key]; ok && compared {
		cells[3] = format(was)
		note = verdict(f, ratio, was)
	}
	fmt.Fprintf(w, "  %s\t%s\t%s\n", f.Title, strings.Join(cells, "\t"), note)
}

// verdict says in a word how a ratio compares with was, the baseline's. Differences of less than a quarter are ignored;
// for counts, those of less than a twentieth.
func verdict(f Figure, ratio, was float64) string {
	margin := 1.25
	if f.Count {
		margin = 1.05
	}
	change := ratio / was
	if f.More {
		change = was / ratio
	}
	switch {
	case change > margin:
		return "worse than the baseline"
	case change < 1/margin:
		return "better than the baseline"
	}
	return ""
}

func (o *Outcome) requestRows(w io.Writer) {
	kinds := map[string]bool{}
	for _, counts := range o.Requests {
		for kind := range counts {
			kinds[kind] = true
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Fprintf(w, "    %s\t%s\t%s\t\t\t\n", kind, format(o.Requests[Ours][kind]), format(o.Requests[Builtin][kind]))
	}
}

// faults returns, as text, how many pods were duplicate and lost in all rounds of a contender (a compared controller).
func (o *Outcome) faults(name string) string {
	if len(o.Laps[name]) == 0 {
		return "-"
	}
	duplicates, losses := 0, 0
	for _, lap := range o.Laps[name] {
		duplicates, losses = duplicates+lap.Duplicates, losses+lap.Losses
	}
	return fmt.Sprintf("%d, %d", duplicates, losses)
}

// processor returns the model name of the machine's processors, from /proc/cpuinfo.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processors"
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "unknown processors"
}
