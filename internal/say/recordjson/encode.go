package recordjson

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jobledger/jobledger/events"
)

// object builds a JSON object: it appends fields in the order in which they are added.
type object struct{ b []byte }

func (o *object) key(name string) {
	if len(o.b) == 0 {
		o.b = append(o.b, '{')
	} else {
		o.b = append(o.b, ',')
	}
	o.b = strconv.AppendQuote(o.b, name)
	o.b = append(o.b, ':')
}

func (o *object) raw(name string, value []byte) {
	if len(value) > 0 {
		o.key(name)
		o.b = append(o.b, value...)
	}
}

func (o *object) text(name, value string) {
	if value != "" {
		o.raw(name, quote(value))
	}
}

func (o *object) number(name string, value uint64) {
	if value != 0 {
		o.raw(name, strconv.AppendUint(nil, value, 10))
	}
}

func (o *object) yes(name string, value bool) {
	if value {
		o.raw(name, []byte("true"))
	}
}

func (o *object) end() []byte {
	if len(o.b) == 0 {
		return []byte("{}")
	}
	return append(o.b, '}')
}

// quote returns a text as a JSON string of visible characters only. It escapes all others, even those that JSON allows.
func quote(s string) []byte {
	b := []byte{'"'}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			r -= 0x10000
			b = fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
		i += n
	}
	return append(b, '"')
}

var (
	timeType     = reflect.TypeFor[events.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	commandType  = reflect.TypeFor[events.Command]()
	commandName  = reflect.TypeFor[events.CommandID]()
	epochReason  = reflect.TypeFor[events.EpochReason]()
	witnessType  = reflect.TypeFor[events.Witness]()
)

var witnesses = map[events.Witness]string{
	events.WitnessFiles: "files", events.WitnessLease: "lease", events.WitnessPod: "pod", events.WitnessStream: "stream",
	events.WitnessCopy: "copy",
}

// value returns a part of a record as JSON. Fields have their Go names with a lower-case first letter, in the order of
// the type. Left out are unset, false and empty values, unsigned numbers that are 0, and a -1 that marks a missing
// value. Times are RFC 3339 with nanoseconds, durations as in Go ("1m0s"), enumerations by name. A CommandID is the
// record of its decision and its position there ("41/0").
func value(v reflect.Value) []byte {
	if text, ok := named(v); ok {
		return text
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		if p := v.Elem(); p.Kind() != reflect.Struct {
			return scalar(p) // write an optional field if it is set, even to 0 or ""
		}
		return value(v.Elem())
	case reflect.Interface:
		if v.Type() == commandType && !v.IsNil() {
			return command(v.Interface().(events.Command))
		}
		return nil
	case reflect.Struct:
		return fields(v, nil)
	case reflect.Slice:
		return list(v)
	case reflect.Int32, reflect.Int64:
		return scalar(v)
	}
	if v.IsZero() {
		return nil
	}
	return scalar(v)
}

// named returns the JSON of a value whose type has a special form, such as a time. ok is false if the type has none.
func named(v reflect.Value) (text []byte, ok bool) {
	switch v.Type() {
	case timeType:
		if t := events.Time(v.Int()); t != 0 {
			return quote(Stamp(t)), true
		}
		return nil, true
	case durationType:
		if d := time.Duration(v.Int()); d != 0 {
			return quote(d.String()), true
		}
		return nil, true
	case commandName:
		if name := v.Interface().(events.CommandID); name != (events.CommandID{}) {
			return quote(CommandText(name)), true
		}
		return nil, true
	case epochReason:
		switch events.EpochReason(v.Uint()) {
		case events.EpochRestored:
			return quote("restored"), true
		case events.EpochClusterRewound:
			return quote("clusterRewound"), true
		}
		return nil, true
	case witnessType:
		if name := witnesses[events.Witness(v.Uint())]; name != "" {
			return quote(name), true
		}
		return nil, true
	}
	return nil, false
}

func scalar(v reflect.Value) []byte {
	if s, ok := v.Interface().(fmt.Stringer); ok {
		return quote(s.String())
	}
	switch v.Kind() {
	case reflect.String:
		return quote(v.String())
	case reflect.Bool:
		return strconv.AppendBool(nil, v.Bool())
	case reflect.Int32, reflect.Int64:
		return strconv.AppendInt(nil, v.Int(), 10)
	}
	return strconv.AppendUint(nil, v.Uint(), 10)
}

// marked lists the fields in which -1 means "not set", so that -1 is not written.
var marked = map[string]bool{"Index": true, "Ready": true, "Terminating": true}

func fields(v reflect.Value, first []byte) []byte {
	o := object{b: first}
	t := v.Type()
	for i := range t.NumField() {
		f := v.Field(i)
		if marked[t.Field(i).Name] && f.Kind() == reflect.Int32 && f.Int() == events.Unset {
			continue
		}
		if encoded := value(f); string(encoded) != "{}" {
			o.raw(lower(t.Field(i).Name), encoded)
		}
	}
	return o.end()
}

func list(v reflect.Value) []byte {
	if v.Len() == 0 {
		return nil
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		if _, names := v.Interface().([]events.Resource); !names {
			return quote(base64.StdEncoding.EncodeToString(v.Bytes()))
		}
	}
	b := []byte{'['}
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		e := v.Index(i)
		if item := value(e); item != nil {
			b = append(b, item...)
		} else {
			// An element of a list is written even if it is 0, because its position counts.
			b = append(b, scalar(e)...)
		}
	}
	return append(b, ']')
}

// command returns a command as a JSON object. Its field "type" names the kind of command.
func command(c events.Command) []byte {
	v := reflect.ValueOf(c).Elem()
	o := object{}
	o.text("type", c.Traits().Name)
	return fields(v, o.b)
}

// lower returns a field name with its first letter, or its leading abbreviation, in lower case: UID becomes uid,
// ManagedBy becomes managedBy.
func lower(name string) string {
	n := 1
	for n < len(name) && unicode.IsUpper(rune(name[n])) && (n+1 == len(name) || unicode.IsUpper(rune(name[n+1]))) {
		n++
	}
	return strings.ToLower(name[:n]) + name[n:]
}

// embedded returns JSON from elsewhere on one line, with visible characters only; nil if b is not JSON.
func embedded(b []byte) []byte {
	var line bytes.Buffer
	if len(b) == 0 || json.Compact(&line, b) != nil {
		return nil
	}
	return VisibleJSON(line.Bytes())
}

// VisibleJSON escapes the characters of a JSON text that could control a terminal. Only its strings can have them,
// since the rest of JSON is ASCII.
func VisibleJSON(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == '\n' || unicode.IsPrint(r) {
			out = append(out, b[:n]...)
		} else {
			q := quote(string(r))
			out = append(out, q[1:len(q)-1]...)
		}
		b = b[n:]
	}
	return out
}

// CommandText returns the name of a command for programs: the record of its decision, and its position there, from 0:
// "41/0".
func CommandText(name events.CommandID) string {
	return fmt.Sprintf("%d/%d", name.Decided, name.Place)
}
