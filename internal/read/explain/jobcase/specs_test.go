package jobcase

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestDefaultsOfASpec: the API's own, where a field is not set.
func TestDefaultsOfASpec(t *testing.T) {
	whentest.Texts(t, [][2]string{
		{backoff(nil), "6"}, {backoff(new(int32(2))), "2"}, {fmt.Sprint(Number(nil), Number(new(int32))), "1 0"},
	})
}

func backoff(limit *int32) string {
	return fmt.Sprint(BackoffLimit(&events.JobSpec{BackoffLimit: limit}))
}

// TestContainersOfATemplate: their names and images; none of a template that cannot be read.
func TestContainersOfATemplate(t *testing.T) {
	if got := Images([]byte(`{"spec":{"containers":[{"name":"a","image":"x"}],"initContainers":[{"name":"b","image":"y"}]}}`)); fmt.Sprint(got) != "map[a:x b:y]" {
		t.Errorf("images %v", got)
	}
	if got := Regulars([]byte(`{"spec":{"containers":[{"name":"a"}],"initContainers":[{"name":"b"}]}}`)); fmt.Sprint(got) != "[a]" {
		t.Errorf("regular ones %v", got)
	}
	if Regulars([]byte("x")) != nil || Initials([]byte(`{"spec":{}}`)) != nil || len(Images([]byte("x"))) != 0 {
		t.Error("a template that cannot be read has containers")
	}
}
