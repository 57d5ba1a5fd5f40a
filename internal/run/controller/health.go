package controller

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Health is the state that the probes report. It is safe for concurrent use.
type Health struct {
	slis     slis
	scraping sync.Mutex // held while a scrape is answered

	mu      sync.Mutex
	standby bool // this process does not lead, or not yet
	// Why a standby is not ready: it may be a second controller, or its log is behind; empty if it is ready
	second   string
	listing  bool   // the first listing of the cluster is not complete yet
	denied   string // rights that are missing for the listing; empty for none
	full     bool   // the log's disk is full
	rival    string // what another controller does to our Jobs; empty for nothing
	stopping bool
	failed   error     // error after which the log accepts no more records
	turned   time.Time // when the loop last ended a turn; it makes one at least every second

	Holes    func() []error // returns what is damaged in the complete files of the log; nil until the log is open
	degraded func() string  // returns what fails in publishing the log to NATS; nil without NATS
	copied   func() string  // returns what the copy of the log lacks; nil without a copy
	over     string         // namespaces that filled more of the log than their budget; empty for none
	// retention says why the log does not get as small as it should; empty for nothing.
	retention string
	gangs     string // why Jobs wait for their Workload and PodGroup; empty for nothing
	// holder of another Lease for the same Jobs that did not keep this process from running; empty for none
	beside string

	logger *slog.Logger               // gets the sentences that remote clients do not get; nil for none
	told   map[string]map[string]bool // by name of the probe: the checks that failed at its last request
}

// stuck is how long the loop may make no turn before it counts as dead: its disk hangs, or it has a bug.
const stuck = time.Minute

func (h *Health) set(change func(*Health)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

// notListed returns the rights that are missing to list the cluster; empty if none is missing, or the listing is
// complete.
func (h *Health) notListed() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.listing {
		return ""
	}
	return h.denied
}

// check is the result of one health check. says is the sentence about the failure; it is empty while the check passes.
type check struct{ name, says string }

// checks returns the results of all checks of a probe. A controller whose log failed or whose loop is stuck is not
// live. A controller that cannot work at the moment is live but not ready.
func (h *Health) checks(ready bool) []check {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := []check{{name: "log"}}
	if h.failed != nil {
		all[0].says = h.failed.Error()
	}
	say := func(name string, wrong bool, text string) {
		c := check{name: name}
		if wrong {
			c.says = text
		}
		all = append(all, c)
	}
	silent := time.Since(h.turned)
	say("loop", !h.turned.IsZero() && !h.stopping && silent > stuck, fmt.Sprintf("it has not gone round for %s", silent.Round(time.Second)))
	if !ready {
		return all
	}
	say("room", h.full, "the log's disk has no room: nothing is done until there is")
	if h.standby && h.second != "" {
		return append(all, check{name: "lease", says: h.second})
	}
	if h.standby {
		// A standby that may take over is ready, although it does nothing: it waits by design, so the checks below do
		// not count.
		return append(all, check{name: "standby"})
	}
	listing := "the cluster is being listed: nothing is decided until that is done"
	if h.denied != "" {
		listing = h.denied
	}
	say("listing", h.listing, listing)
	say("rival", h.rival != "", h.rival)
	say("running", h.stopping, "the controller stops")
	return all
}

// warnings returns the checks that leave the controller ready when they fail. Their sentences may name Jobs,
// namespaces, files and users.
func (h *Health) warnings() []check {
	var degraded, copied func() string
	var holes func() []error
	var all []check
	h.set(func(h *Health) {
		holes, degraded, copied = h.Holes, h.degraded, h.copied
		all = []check{{"budget", h.over}, {"retention", h.retention}, {"gangs", h.gangs}, {"lease", h.beside}}
	})
	if holes != nil {
		for _, hole := range holes() {
			all = append(all, check{"log", fmt.Sprintf("a sealed file is damaged; the controller goes on without it: %v", hole)})
		}
	}
	all = slices.DeleteFunc(all, func(c check) bool { return c.says == "" })
	if degraded != nil {
		all = append(all, check{"nats", degraded()})
	}
	if copied != nil {
		all = append(all, check{"copy", copied()})
	}
	return all
}

// Probe returns a handler that answers 200 if all checks pass, and otherwise 500 with the failed checks. Clients on
// this machine get each check's sentence, which may name Jobs; clients on other machines get one word for each check,
// and the sentence is logged.
func (h *Health) Probe(name string, ready bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var text strings.Builder
		status := http.StatusOK
		sentences := onLoopback(r)
		line := func(mark, name, word, says string) {
			if sentences {
				word = says
			}
			fmt.Fprintf(&text, "[%s]%s%s\n", mark, name, word)
		}
		checks := h.checks(ready)
		h.slis.note(name, checks)
		for _, c := range checks {
			if c.says == "" {
				line("+", c.name, " ok", " ok")
				continue
			}
			line("-", c.name, " failed", ": "+c.says)
			status = http.StatusInternalServerError
		}
		var warnings []check
		if ready {
			warnings = h.warnings()
		}
		for _, c := range warnings {
			switch {
			case c.says == "": // only nats and copy are in the list without a failure
				line("+", c.name, " ok", " ok")
			case c.name == "nats" || c.name == "copy":
				line("~", c.name, " warning", " "+c.says)
			default:
				line("~", c.name, " warning", ": "+c.says)
			}
		}
		h.tell(name, slices.Concat(checks, warnings))
		_, verbose := r.URL.Query()["verbose"]
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		if status == http.StatusOK && !verbose {
			fmt.Fprint(w, "ok")
			return
		}
		fmt.Fprint(w, text.String())
	}
}

// onLoopback reports whether the request came to a loopback address of this machine.
func onLoopback(r *http.Request) bool {
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return addr != nil && addr.IP.IsLoopback()
}

// tell logs the sentence of each check that fails now, but did not fail at the probe's last request.
func (h *Health) tell(probe string, wrong []check) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.told[probe]
	now := map[string]bool{}
	for _, c := range wrong {
		if c.says == "" {
			continue
		}
		if now[c.name] = true; !before[c.name] && h.logger != nil {
			h.logger.Warn("a check of the probes found something", "probe", probe, "check", c.name, "says", c.says)
		}
	}
	if h.told == nil {
		h.told = map[string]map[string]bool{}
	}
	h.told[probe] = now
}
