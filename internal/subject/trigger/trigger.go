package trigger

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// The annotation of a CronJob that requests a run, and the field manager of its writer.
const (
	Annotation = "jobledger.dev/trigger"
	Manager    = "jobledger-trigger"
)

// Size limits of a value, in bytes. Package trigger writes no longer ones, so Parse refuses these.
const (
	mostID = 64
	mostBy = 256
)

// Request is a user's request for a run, as the annotation holds it.
type Request struct {
	At time.Time // by the requester's clock, in UTC, whole milliseconds
	ID string    // unique; letters, digits and hyphens
	By string    // user name from the API server; empty if unknown
}

// layout is the format of the time; each time has the same length.
const layout = "2006-01-02T15:04:05.000Z"

// String returns the value of the annotation: time, ID and name, separated by spaces.
func (r *Request) String() string {
	return strings.TrimSuffix(fmt.Sprintf("%s %s %s", r.At.UTC().Format(layout), r.ID, r.By), " ")
}

// Parse parses a value. Everything after the ID is the name. It returns an error if the value is not a Request.
func Parse(value string) (Request, error) {
	at, rest, _ := strings.Cut(value, " ")
	id, by, _ := strings.Cut(rest, " ")
	t, err := time.Parse(layout, at)
	switch {
	case err != nil:
		return Request{}, fmt.Errorf("%q does not begin with a time such as %s", short(value), layout)
	case id == "" || len(id) > mostID || strings.Trim(id, idLetters) != "":
		return Request{}, fmt.Errorf("%q has no ID after its time", short(value))
	case len(by) > mostBy || !utf8.ValidString(by):
		return Request{}, fmt.Errorf("the name in %q has more than %d bytes, or is no text", short(value), mostBy)
	}
	return Request{At: t, ID: id, By: by}, nil
}

const idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

// Name cuts a user name to the length that a value may hold.
func Name(user string) string {
	user = strings.ToValidUTF8(strings.TrimSpace(user), "")
	if len(user) <= mostBy {
		return user
	}
	cut := mostBy
	for !utf8.RuneStart(user[cut]) {
		cut--
	}
	return user[:cut]
}

// short returns the beginning of a value, for messages.
func short(value string) string {
	const most = 80
	if len(value) > most {
		return strings.ToValidUTF8(value[:most], "") + "…"
	}
	return value
}
