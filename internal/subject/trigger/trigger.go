package trigger

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// The annotation of a CronJob that asks for a run, and the field manager who writes it.
const (
	Annotation = "jobledger.dev/trigger"
	Manager    = "jobledger-trigger"
)

// Bounds of what a value may say. Longer ones are not a Request: they come from elsewhere.
const (
	mostID = 64
	mostBy = 256
)

// Request is what the annotation says.
type Request struct {
	At time.Time // by the clock of who asked, in UTC and whole milliseconds
	ID string    // no other request has it; letters, digits and hyphens
	By string    // the name that the API server told who asked; empty where it told none
}

// layout has a width of its own, so that a value is read by its fields.
const layout = "2006-01-02T15:04:05.000Z"

// String is the value of the annotation: the time, the ID, and the name, with a space between.
func (r *Request) String() string {
	return strings.TrimSuffix(fmt.Sprintf("%s %s %s", r.At.UTC().Format(layout), r.ID, r.By), " ")
}

// Parse reads a value. The rest of it, after the ID, is the name.
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

// Name cuts the name of a user to what a value may hold.
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

// short is the beginning of a value, for messages.
func short(value string) string {
	const most = 80
	if len(value) > most {
		return strings.ToValidUTF8(value[:most], "") + "…"
	}
	return value
}
