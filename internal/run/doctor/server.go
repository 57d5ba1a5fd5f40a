package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/jobledger/jobledger/events"
)

// The minor versions of Kubernetes that this program supports. Tests have passed with each: test/minors has a test for
// each older version. All other tests use the newest version, which is also that of the libraries in go.mod.
var (
	oldest = version.MajorMinor(1, 32) // the first version with the field managedBy on by default
	newest = version.MajorMinor(1, 37)
)

// server reports an API server that does not answer, or whose version is too old or too new. No answer is a Problem, so
// that a script that waits for a cluster does not continue without one.
func server(_ context.Context, c *Config) []Finding {
	name, v, err := serverVersion(c)
	switch {
	case apierrors.IsUnauthorized(err):
		return []Finding{{
			Level: Problem, Text: err.Error(), Do: "renew the token or the certificate that the kubeconfig names, and look at --kubeconfig and --context",
			unreachable: true,
		}}
	case errors.Is(err, errNoAnswer):
		return []Finding{{Level: Problem, Text: err.Error(), Do: "look at --kubeconfig and --context, and at the network", unreachable: true}}
	case err != nil:
		return []Finding{{Level: Unknown, Text: err.Error()}}
	}
	return []Finding{skew(c, name, v)}
}

// errNoAnswer is returned if the API server does not answer.
var errNoAnswer = errors.New("the API server does not answer")

// serverVersion returns the server's version twice: as text for messages, and as the minor version whose behavior the
// server has. The second is older if the server emulates an older version.
func serverVersion(c *Config) (name string, v *version.Version, err error) {
	info, err := c.Client.Discovery().ServerVersion()
	switch {
	case apierrors.IsUnauthorized(err):
		return "", nil, fmt.Errorf("the API server does not accept the credentials: %w", err)
	case apierrors.IsForbidden(err):
		return "", nil, fmt.Errorf("the API server does not tell its version: %w", err)
	case err != nil:
		return "", nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	v, err = version.ParseGeneric(info.GitVersion)
	if err != nil {
		return "", nil, fmt.Errorf("the API server says that it is %q, which is no version", info.GitVersion)
	}
	name, v = "Kubernetes "+info.GitVersion, version.MajorMinor(v.Major(), v.Minor())
	if e, err := version.ParseGeneric(info.EmulationMajor + "." + info.EmulationMinor); err == nil && !e.EqualTo(v) {
		return fmt.Sprintf("%s, which emulates %s", name, e), e, nil
	}
	return name, v, nil
}

// skew returns a finding about the server's version: whether this program supports it.
func skew(c *Config, name string, v *version.Version) Finding {
	span := fmt.Sprintf("this program is for %s to %s", oldest, newest)
	switch {
	case v.LessThan(oldest) && c.Settings.Mode == events.ModeDelegated:
		return Finding{
			Level: Problem, Text: fmt.Sprintf("%s is too old: it drops spec.managedBy from Jobs, so no Job is ours; %s", name, span),
			Do: "upgrade to 1.32 or later, or run --manage=observe",
		}
	case v.LessThan(oldest) && c.Settings.Mode == events.ModeAll:
		return Finding{
			Level: Problem, Text: fmt.Sprintf("%s is too old: it may refuse the statuses that we write; %s", name, span),
			Do: "upgrade to 1.32 or later, or run --manage=observe",
		}
	case v.LessThan(oldest):
		return Finding{Level: Warning, Text: fmt.Sprintf("%s is too old: %s", name, span), Do: "upgrade to 1.32 or later"}
	case newest.LessThan(v):
		return Finding{
			Level: Warning, Text: fmt.Sprintf("%s is too new: %s", name, span),
			Do: "look for a newer jobledger, or try this one in a cluster of that version first; --manage=observe writes nothing",
		}
	case v.EqualTo(newest):
		return Finding{Level: OK, Text: name + ", the version of this program's libraries"}
	}
	older := many(int(newest.Minor()-v.Minor()), "minor version", "minor versions")
	return Finding{Level: OK, Text: fmt.Sprintf("%s, %s older than this program's libraries (%s), and tried with it", name, older, newest)}
}

// The differences between the clocks above which the result is a warning or a problem. A difference of a few seconds
// can make a certificate or a token count as not yet valid, and shifts the deadline of a Job by as much.
const (
	clockWarning = 2 * time.Second
	clockProblem = 30 * time.Second
)

// clock compares the clock of this machine with the API server's, of which only whole seconds are known.
func clock(_ context.Context, c *Config) []Finding {
	there, ok := c.Clock()
	if !ok {
		return []Finding{{Level: Unknown, Text: "the API server does not say what time it is (no Date in its answers)"}}
	}
	off := c.Now().Sub(there)
	text := fmt.Sprintf("the clock of this machine is %s the API server's", ahead(off))
	const do = "let a time service (chrony, systemd-timesyncd) set both clocks: deadlines and backoffs are counted by this one"
	switch d := off.Abs(); {
	case d >= clockProblem:
		return []Finding{{Level: Problem, Text: text, Do: do}}
	case d >= clockWarning:
		return []Finding{{Level: Warning, Text: text, Do: do}}
	}
	return well("the clock of this machine agrees with the API server's, to a second or two")
}

func ahead(off time.Duration) string {
	if off < 0 {
		return off.Abs().Round(time.Second).String() + " behind"
	}
	return off.Round(time.Second).String() + " ahead of"
}
