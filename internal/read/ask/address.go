package ask

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// last returns the parameter that has the last argument of a question in an address, because it is no part of a path;
// empty when there is none.
func (t Takes) last() string {
	switch t {
	case AnInstant:
		return "time"
	case AText:
		return "q"
	case Nothing, AnObject, AJob, ACronJob, MaybeOne:
	}
	return ""
}

// Address is where a question is asked that was read: the parts behind its name, and the parameters.
func Address(takes Takes, args []string, flags *pflag.FlagSet) (path []string, values url.Values) {
	values = url.Values{}
	if last := len(args) - 1; last >= 0 && takes.last() != "" && (takes == AText || last > 0) {
		values.Set(takes.last(), args[last])
		args = args[:last]
	}
	if len(args) > 0 {
		path = strings.Split(strings.Join(args, "/"), "/")
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Changed {
			return
		}
		if several, is := f.Value.(pflag.SliceValue); is {
			values[f.Name] = several.GetSlice()
			return
		}
		values.Set(f.Name, f.Value.String())
	})
	return path, values
}

// Arguments are those of an address: what stands behind the name of the question. They are to be read then; its
// parameters are set. Errors are a which.WrongError.
func Arguments(takes Takes, object string, flags *pflag.FlagSet, values url.Values) (args []string, err error) {
	if (takes == Nothing || takes == AText) && object != "" {
		return nil, which.Wrong("%s has no object, and %q stands behind it", flags.Name(), object)
	}
	if object != "" {
		args = []string{object}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		texts := values[name]
		f, last := flags.Lookup(name), name == takes.last()
		if f == nil && !last {
			return nil, which.Wrong("%s=%q: there is no such parameter", name, texts[0])
		}
		several := false
		if !last {
			_, several = f.Value.(pflag.SliceValue)
		}
		if !several && len(texts) > 1 {
			return nil, which.Wrong("%s is given %d times", name, len(texts))
		}
		if last {
			args = append(args, texts[0])
			continue
		}
		for _, text := range texts {
			if err := flags.Set(name, text); err != nil {
				return nil, which.Wrong("%s=%q: %v", name, text, err)
			}
		}
	}
	return args, nil
}

// Write is an answer as programs get it: the command with -o json, and the service. The damage beside which it was read
// is a field.
func Write(answer any, damage []error) ([]byte, error) {
	text, err := recordjson.Indented(answer)
	if err != nil {
		return nil, err
	}
	return append(recordjson.WithDamage(text, damage), '\n'), nil
}
