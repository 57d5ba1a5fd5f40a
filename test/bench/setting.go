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

// Setting describes the cluster in which the two controllers are compared. Empty fields get their defaults.
type Setting struct {
	// Profile selects how pods live: life (default), instant or cluster.
	Profile string `json:"profile"`
	// Network is the network between a contender and its API server: loopback (default), 2ms or 20ms (round trip).
	// Kubelets and the stopwatch always use loopback.
	Network string `json:"network"`
	// Place says on which processors the API server runs: on the "same" as the measured controller (default), or on
	// "other" ones. With "other", the controller has the second half of the processors, and all other processes have
	// the first.
	Place string `json:"place"`
	// Seed determines how long pods run and which fail.
	Seed uint64 `json:"seed"`
}

// Profiles: how pods live.
const (
	// Life: pods are scheduled, become ready, run and end. The bench simulates scheduler and kubelets, and each step is
	// a separate write.
	Life = "life"
	// Instant: every pod ends as soon as it appears, with one write.
	Instant = "instant"
	// Cluster: the real kube-scheduler assigns pods, and kwok simulates the kubelets.
	Cluster = "cluster"
)

// Places: the processors on which the API server runs.
const (
	same  = "same"
	other = "other"
)

const loopback = "loopback"

// networks are the simulated networks that a setting can name. A name is the time of a round trip: "2ms" has a delay
// of 1 ms in each direction.
var networks = map[string]link.Line{
	loopback: {},
	"2ms":    {Delay: time.Millisecond},
	"20ms":   {Delay: 10 * time.Millisecond, Rate: 100e6 / 8},
}

// nodes is the number of kubelets in a cluster of profile Life.
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

// String describes a setting briefly: without defaults, and without the seed.
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

// ParseSeed parses a seed: a number from 1, or "date" for today's date as a number, such as 20261128. Nobody can have
// tuned a figure to today's date.
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
