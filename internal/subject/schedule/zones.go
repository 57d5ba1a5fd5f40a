package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Zones finds the rules of a time zone by its name. Rules come from the log: decisions of a log are the same on a
// machine that has others. It answers an ErrUnknownZone for a name of which it has none.
type Zones func(name string) (*time.Location, error)

// ErrUnknownZone: there are no rules for that name.
var ErrUnknownZone = errors.New("unknown time zone")

// UnknownZone is the error for a name without rules, in the words of the standard library.
func UnknownZone(name string) error { return fmt.Errorf("%w %s", ErrUnknownZone, name) }

// Zone names that need no rules.
const (
	utc   = "UTC"
	local = "Local" // of the process, which is UTC (C-045)
)

// errZoneName is what the standard library says of a name that no database is asked for.
var errZoneName = errors.New("time: invalid location name")

// Locate finds a zone: without a name, or as Local, it is UTC (C-045).
func Locate(name string, zones Zones) (*time.Location, error) {
	switch {
	case name == "" || name == utc || name == local:
		return time.UTC, nil
	case !asks(name):
		return nil, errZoneName
	}
	return zones(name)
}

// asks reports whether a database may be asked for the name.
func asks(name string) bool {
	return !strings.Contains(name, "..") && name[0] != '/' && name[0] != '\\'
}

// Named are the zones whose rules a CronJob needs: that of spec.timeZone, which may be nil, and the one that its
// schedule names.
func Named(text string, timeZone *string) (names []string) {
	add := func(name string) {
		if name != "" && name != utc && name != local && asks(name) && (len(names) == 0 || names[0] != name) {
			names = append(names, name)
		}
	}
	if timeZone != nil {
		add(*timeZone)
	}
	if _, zone, has, err := prefixed(text); err == nil && has {
		add(zone)
	}
	return names
}
