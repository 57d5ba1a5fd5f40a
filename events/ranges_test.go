package events

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// bounded returns the messages that a log or a snapshot holds, with all nested messages.
func bounded() map[string]protoreflect.MessageDescriptor {
	all := map[string]protoreflect.MessageDescriptor{}
	var add func(m protoreflect.MessageDescriptor)
	add = func(m protoreflect.MessageDescriptor) {
		if all[string(m.Name())] != nil {
			return
		}
		all[string(m.Name())] = m
		for i := range m.Fields().Len() {
			if f := m.Fields().Get(i); f.Message() != nil {
				add(f.Message())
			}
		}
	}
	facts := (&pb.PublishedRecord{}).ProtoReflect().Descriptor().Oneofs().ByName("facts").Fields()
	for i := range facts.Len() {
		add(facts.Get(i).Message())
	}
	for _, m := range []protoreflect.ProtoMessage{&pb.Header{}, &pb.Evidence{}, &pb.WorldState{}, &pb.StateNames{}} {
		add(m.ProtoReflect().Descriptor())
	}
	return all
}

// TestEachFieldHasARange: a number, a value of an enum or bytes that a log holds have a row in the table, and the table
// has no other row.
func TestEachFieldHasARange(t *testing.T) {
	rows := 0
	for name, m := range bounded() {
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			row, ok := ranges[name][string(f.Name())]
			switch f.Kind() {
			case protoreflect.BoolKind, protoreflect.StringKind, protoreflect.MessageKind:
				if ok {
					t.Errorf("%s.%s is a %s, and has a range", name, f.Name(), f.Kind())
				}
				continue
			case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Uint32Kind, protoreflect.Int64Kind, protoreflect.Uint64Kind,
				protoreflect.Sfixed64Kind, protoreflect.EnumKind, protoreflect.BytesKind:
			default:
				t.Errorf("%s.%s is a %s, which the walk does not know", name, f.Name(), f.Kind())
			}
			if rows++; !ok {
				t.Errorf("%s.%s has no range: say in the table what it may be", name, f.Name())
			}
			if form := row.form; (form == formUID || form == formHash || form == formAny) != (f.Kind() == protoreflect.BytesKind) ||
				form == formEnum && f.Kind() != protoreflect.EnumKind {
				t.Errorf("%s.%s is a %s, and its range is of another", name, f.Name(), f.Kind())
			}
		}
	}
	known := 0
	for _, fields := range ranges {
		known += len(fields)
	}
	if known != rows {
		t.Errorf("the table has %d rows, the schema %d fields that want one", known, rows)
	}
}

// TestWhatIsOutsideItsRangeIsNamed: for each field of each message, wherever it can stand, one value below and one
// above the range are refused with the field's name. The values at both ends pass.
func TestWhatIsOutsideItsRangeIsNamed(t *testing.T) {
	tried := 0
	made := map[protoreflect.FullName]bounds{}
	for name, m := range bounded() {
		all := boundsOf(m, made)
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			row, ok := ranges[name][string(f.Name())]
			if !ok || row.form == formAny {
				continue
			}
			if row.form == formEnum {
				row.max = int64(f.Enum().Values().Len()) - 1 // they are dense
			}
			for _, value := range valuesOf(f, row) {
				tried++
				err := all.check(value.encoded)
				var wrong *RangeError
				switch {
				case value.good && err != nil:
					t.Errorf("%s, in its range: %v", value.says, err)
				case !value.good && (!errors.As(err, &wrong) || wrong.Field != name+"."+string(f.Name()) || !strings.Contains(err.Error(), wrong.Field)):
					t.Errorf("%s, outside of its range: %v", value.says, err)
				}
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d values were tried", tried)
	}
}

type rangeCase struct {
	says    string
	encoded []byte
	good    bool
}

func valuesOf(f protoreflect.FieldDescriptor, row span) (all []rangeCase) {
	if f.Kind() == protoreflect.BytesKind {
		for _, b := range []struct {
			bytes []byte
			good  map[form]bool
		}{
			{nil, map[form]bool{formUID: true, formHash: true}},
			{make([]byte, 16), map[form]bool{formUID: true}},
			{make([]byte, 32), map[form]bool{formUID: true, formHash: true}},
			{[]byte("abc"), nil},
			{[]byte("\x00\xff"), nil},
		} {
			encoded := protowire.AppendBytes(protowire.AppendTag(nil, f.Number(), protowire.BytesType), b.bytes)
			all = append(all, rangeCase{says: string(f.FullName()), encoded: encoded, good: b.good[row.form]})
		}
		return all
	}
	type number struct {
		n    int64
		good bool
	}
	numbers := []number{{row.min, true}, {row.max, true}}
	if row.min > math.MinInt64 && !(f.Kind() == protoreflect.Uint32Kind && row.min == 0) && !(f.Kind() == protoreflect.Sint32Kind) &&
		!(f.Kind() == protoreflect.Int32Kind && row.min == math.MinInt32) {
		numbers = append(numbers, number{row.min - 1, false})
	}
	if most := map[protoreflect.Kind]int64{
		protoreflect.Int32Kind: math.MaxInt32, protoreflect.Sint32Kind: math.MaxInt32, protoreflect.Uint32Kind: math.MaxUint32,
		protoreflect.EnumKind: math.MaxInt32,
	}[f.Kind()]; row.max < most || most == 0 && row.max < math.MaxInt64 {
		numbers = append(numbers, number{row.max + 1, false})
	}
	for _, n := range numbers {
		v := uint64(n.n)
		if f.Kind() == protoreflect.Sint32Kind {
			v = protowire.EncodeZigZag(n.n)
		}
		var one, packed []byte
		if f.Kind() == protoreflect.Sfixed64Kind {
			one = protowire.AppendFixed64(protowire.AppendTag(nil, f.Number(), protowire.Fixed64Type), v)
			packed = protowire.AppendFixed64(nil, v)
		} else {
			one = protowire.AppendVarint(protowire.AppendTag(nil, f.Number(), protowire.VarintType), v)
			packed = protowire.AppendVarint(nil, v)
		}
		says := string(f.FullName())
		all = append(all, rangeCase{says, one, n.good})
		if f.IsList() {
			all = append(all, rangeCase{says + " packed", protowire.AppendBytes(protowire.AppendTag(nil, f.Number(), protowire.BytesType), packed), n.good})
		}
	}
	return all
}

// TestARecordOutsideItsRangesIsNotRead: the error names the record and the field, wherever in the facts it stands. A
// record that cannot be read cannot be written either.
func TestARecordOutsideItsRangesIsNotRead(t *testing.T) {
	minus := int32(-1)
	for _, row := range []struct {
		kind  Kind
		facts Facts
		says  string
	}{
		{KindSpecStored, &JobSpec{Hash: "a", Parallelism: &minus}, "record 7: JobSpec.parallelism is -1; it can be 0 to 2147483647"},
		{KindCronJobAdded, &CronJobSeen{KeepFailed: &minus}, "record 7: CronJobSeen.keep_failed is -1"},
		{KindCronJobChanged, &CronJobSeen{LastSchedule: math.MinInt64}, "record 7: CronJobSeen.last_schedule is -9223372036854775808"},
		{KindJobAdded, &JobSeen{Status: &JobStatus{Active: -3, Ready: Unset, Terminating: Unset}}, "record 7: JobStatus.active is -3"},
		{KindPodAdded, &PodSeen{Phase: 77}, "record 7: PodSeen.phase is 77; it can be 0 to 5"},
		{KindPodAdded, &PodSeen{Sandbox: 8}, "record 7: PodSeen.sandbox is 8; it can be 0 to 7"},
		{
			KindDecided, &Decision{Steps: []Step{{Commands: []Command{&WriteStatus{Change: StatusChange{Failed: &minus}}}}}},
			"record 7: StatusChange.failed is -1",
		},
	} {
		r := Record{Header: Header{Sequence: 7, Time: 1, Stream: JobStream("x"), Kind: row.kind}, Facts: row.facts}
		if _, err := AppendRecord(nil, &r); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s is written: %v, want %q", row.kind, err, row.says)
		}
		facts, err := EncodeFacts(row.facts)
		if err != nil {
			t.Fatal(err)
		}
		_, err = DecodeParts(Parts{Header: appendHeader(nil, &r.Header), Facts: facts})
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s is read: %v, want %q", row.kind, err, row.says)
		}
	}
}

// TestTimesThatAStatusMayHaveAreInRange: a client that may write a status may write any year.
func TestTimesThatAStatusMayHaveAreInRange(t *testing.T) {
	for _, year := range []int{0, 1, 1677, 1929, 1930, 1970, 2026, 2189, 2190, 2262, 2263, 9999} {
		at := At(time.Date(year, 12, 31, 23, 59, 59, 0, time.UTC))
		if int64(at) < instant.min || int64(at) > instant.max || at == 0 {
			t.Errorf("year %d becomes %d", year, at)
		}
		if year >= 1930 && year < 2190 && at.Go().Year() != year {
			t.Errorf("year %d becomes %s", year, at.Go())
		}
	}
	if d := LastTime.Sub(FirstTime); d <= 0 {
		t.Errorf("the distance of both ends is %s", d)
	}
	if at := LastTime.Add(math.MaxInt32 * time.Second); at <= LastTime {
		t.Errorf("the newest time and the longest TTL are %d", at)
	}
}
