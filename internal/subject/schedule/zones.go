package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Zones returns the rules of a time zone by name. The rules come from the log, so decisions are the same on machines
// with other time zone databases. For an unknown name it returns an error that matches ErrUnknownZone.
type Zones func(name string) (*time.Location, error)

// ErrUnknownZone is returned if there are no rules for a zone name.
var ErrUnknownZone = errors.New("unknown time zone")

// UnknownZone returns an error for name that matches ErrUnknownZone, in the words of the standard library.
func UnknownZone(name string) error { return fmt.Errorf("%w %s", ErrUnknownZone, name) }

// Zone names that need no rules.
const (
	utc   = "UTC"
	local = "Local" // the process's zone, which is UTC (C-045)
)

// errZoneName is the error of the standard library for a malformed zone name.
var errZoneName = errors.New("time: invalid location name")

// Locate returns the time zone with that name; UTC for "" and "Local" (C-045).
func Locate(name string, zones Zones) (*time.Location, error) {
	switch {
	case name == "" || name == utc || name == local:
		return time.UTC, nil
	case !asks(name):
		return nil, errZoneName
	}
	return zones(name)
}

// asks reports whether name may be looked up in a database.
func asks(name string) bool {
	return !strings.Contains(name, "..") && name[0] != '/' && name[0] != '\\'
}

// Named returns the zones whose rules a CronJob needs: timeZone (spec.timeZone, may be nil) and the one in its
// schedule.
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
