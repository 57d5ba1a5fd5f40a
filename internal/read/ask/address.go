package ask

import (
	"bytes"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// last returns the URL parameter for the last argument of a question: an instant or a text to search, which cannot be a
// part of the path. It is empty for questions without such an argument.
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

// Remote is a question that another process must answer: its name, its address, and where to store the answer.
type Remote struct {
	Name   string
	Path   []string
	Values url.Values
	Answer any // pointer to the value into which the answer is decoded
}

// Remote returns the question in the form in which another process gets it. Call it after Read.
func (a *Asked[A]) Remote(answer *A) Remote {
	path, values := Address(a.Takes, a.args, a.Flags)
	return Remote{Name: a.Name, Path: path, Values: values, Answer: answer}
}

// Address returns the URL of a question. path has the parts after the question's name: the argument prod/etl becomes
// "prod" and "etl". values has the flags that were set.
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

// Arguments is the reverse of Address: from a URL it returns the arguments for Read, and sets the flags. object is the
// path after the question's name, values the parameters. Its errors are of type which.WrongError.
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

// Write returns an answer as JSON, for the command with -o json and for the service. damage, errors that reading the
// log met, becomes a field of the JSON.
func Write(answer any, damage []error) ([]byte, error) {
	text, err := written(answer, recordjson.Indented, "\n    ", "\n  ]\n}")
	if err != nil {
		return nil, err
	}
	return append(recordjson.WithDamage(text, damage), '\n'), nil
}

// Pack returns an answer in the form in which our own processes send it.
func Pack(answer any) ([]byte, error) { return written(answer, recordjson.Compact, "", "]}") }

// written returns an answer in a form of JSON. before and end are what the form puts before each line of a list, and
// behind the last one.
func written(answer any, form func(any) ([]byte, error), before, end string) ([]byte, error) {
	list, is := answer.(listed)
	if !is {
		return form(answer)
	}
	head, lines := list.split()
	text, err := form(head)
	if err != nil || len(lines) == 0 {
		return text, err
	}
	text = text[:bytes.LastIndexByte(text, ']')]
	for i, line := range lines {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, before...), line...)
	}
	return append(text, end...), nil
}
