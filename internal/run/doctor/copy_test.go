package doctor

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/copylog/copylogtest"
	"github.com/jobledger/jobledger/store/copylog/indir"
	"github.com/jobledger/jobledger/store/copylog/ins3"
)

func TestThePlaceOfTheCopy(t *testing.T) {
	s3 := func(url string) copylog.Place {
		p, err := ins3.New("s3://backups/one?endpoint="+url, copylogtest.Keys)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	dir := indir.New(filepath.Join(t.TempDir(), "copy"))
	for _, row := range []struct {
		sentence string
		copy     Copy
		level    Level
		says     string
	}{
		{"nothing is to be copied", Copy{}, "", ""},
		{"a directory", Copy{Place: dir}, OK, "can be written; there is no copy yet"},
		{"a bucket", Copy{Place: s3(copylogtest.Server(t, "backups"))}, OK, "can be written; there is no copy yet"},
		{"without conditional writes", Copy{Place: s3(copylogtest.Unfenced(t, "backups"))}, Problem, "knows no conditional writes"},
		{"without them, as it is accepted", Copy{Place: s3(copylogtest.Unfenced(t, "backups")), Unfenced: true}, Warning, "knows no conditional writes"},
		{"no bucket", Copy{Place: s3(copylogtest.Server(t, "others"))}, Problem, "there is no bucket backups"},
		{"no server", Copy{Place: s3("http://127.0.0.1:1")}, Problem, "connection refused"},
	} {
		found := copyPlace(t.Context(), &Config{Copy: row.copy})
		if row.level == "" && len(found) == 0 {
			continue
		}
		if len(found) == 0 || found[0].Level != row.level || !strings.Contains(found[0].Text, row.says) {
			t.Errorf("%s: %+v, want %s, %q", row.sentence, found, row.level, row.says)
		}
		if row.level == Problem && found[0].Do == "" {
			t.Errorf("%s: what to do is not said", row.sentence)
		}
	}
	if _, err := dir.Size(t.Context(), copylog.ManifestName); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the look left something: %v", err)
	}
	for ahead, says := range map[time.Duration]string{0: "", 30 * time.Second: "", -2 * time.Minute: "2m0s behind", time.Hour: "1h0m0s ahead of"} {
		found := clockOf(dir, ahead)
		if says == "" && len(found) != 0 || says != "" && (len(found) != 1 || !strings.Contains(found[0].Text, says)) {
			t.Errorf("a clock that is %s ahead: %+v", ahead, found)
		}
	}
}
