package bench

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jobledger/jobledger/test/bench/link"
)

// Setting is the cluster that the contenders run in. The zero value stands for the defaults.
type Setting struct {
	// Profile selects how pods live: life (default), instant or cluster.
	Profile string `json:"profile"`
	// Network is between a contender and its API server: loopback (default), 2ms or 20ms. Kubelets and the stopwatch
	// are next to the server.
	Network string `json:"network"`
	// Place is where the server runs: on the "same" processors as the contender (default), or on "other" ones: then the
	// contender has the second half of the processors, and everything else has the first.
	Place string `json:"place"`
	// Seed determines how long pods run and which fail.
	Seed uint64 `json:"seed"`
}

// Profiles.
const (
	// Life: pods are scheduled, become ready, run and end. Our scheduler and kubelets write each step separately.
	Life = "life"
	// Instant: every pod ends, with one write, as soon as it appears.
	Instant = "instant"
	// Cluster: the real kube-scheduler, and kwok as the kubelets.
	Cluster = "cluster"
)

// Places.
const (
	same  = "same"
	other = "other"
)

const loopback = "loopback"

// networks by name. A round trip is twice the delay.
var networks = map[string]link.Line{
	loopback: {},
	"2ms":    {Delay: time.Millisecond},
	"20ms":   {Delay: 10 * time.Millisecond, Rate: 100e6 / 8},
}

// nodes is how many kubelets a cluster of profile Life has.
const nodes = 100

func (s *Setting) setDefaults() error {
	for _, field := range []struct {
		what  string
		value *string
		known []string
	}{
		{"profile", &s.Profile, []string{Life, Instant, Cluster}},
		{"network", &s.Network, []string{loopback, "2ms", "20ms"}},
		{"place", &s.Place, []string{same, other}},
	} {
		if *field.value == "" {
			*field.value = field.known[0]
		}
		if !slices.Contains(field.known, *field.value) {
			return fmt.Errorf("there is no %s %q: there are %s", field.what, *field.value, strings.Join(field.known, ", "))
		}
	}
	if s.Seed == 0 {
		s.Seed = 1
	}
	return nil
}

// String names a setting briefly, without defaults and without the seed.
func (s Setting) String() string {
	words := []string{s.Profile}
	if s.Network != loopback {
		words = append(words, s.Network)
	}
	if s.Place != same {
		words = append(words, "other processors")
	}
	return strings.Join(words, ", ")
}

// ParseSeed reads a seed: a number from 1, or "date" for today's, such as 20261128, which no figure was tuned to.
func ParseSeed(text string, today time.Time) (uint64, error) {
	if text == "date" {
		text = today.UTC().Format("20060102")
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err == nil && seed == 0 {
		err = errors.New("0 is none")
	}
	if err != nil {
		return 0, fmt.Errorf("a seed is a number from 1, or date: %w", err)
	}
	return seed, nil
}
