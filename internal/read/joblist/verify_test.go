package joblist_test

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/read/joblist"
)

// TestListsAreComparedWithTheRecords: those that a Keeper wrote pass, however it came to them.
func TestListsAreComparedWithTheRecords(t *testing.T) {
	for _, every := range []int{37, 1 << 20} {
		_, config, want := busy(t)
		config.Every = every
		for _, keep := range []func() error{
			func() error { return joblist.NewKeeper(config, nil).CatchUp(t.Context()) },
			func() error { return joblist.NewKeeper(config, nil).Finish(t.Context()) },
		} {
			if err := keep(); err != nil {
				t.Fatal(err)
			}
			checked, err := joblist.Check(t.Context(), config)
			if err != nil || len(checked.Wrong) > 0 || len(checked.Notes) > 0 {
				t.Fatalf("every %d: %+v, %v", every, checked, err)
			}
			if checked.Rows < len(want)/2 {
				t.Errorf("every %d: %d rows were compared, of %d Jobs", every, checked.Rows, len(want))
			}
		}
	}
}

// TestAForgedListIsFound: a byte of a block is another, and the block's checksum is right. A list that is only damaged
// is not used.
func TestAForgedListIsFound(t *testing.T) {
	_, config, _ := busy(t)
	if err := joblist.NewKeeper(config, nil).Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	lists, err := filepath.Glob(filepath.Join(config.Dir, "*.jobs"))
	if err != nil || len(lists) < 3 {
		t.Fatal(lists, err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for try := 0; try < 24; try += effort.Step(4) {
		path := lists[try%len(lists)]
		sound, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := append([]byte(nil), sound...)
		from, to := blockOf(changed, rng)
		at := from + rng.IntN(to-from)
		changed[at] ^= 1 << rng.IntN(7)
		forged := try%3 > 0
		if forged {
			binary.LittleEndian.PutUint32(changed[to:], crc32.Checksum(changed[from:to], crc32.MakeTable(crc32.Castagnoli)))
		}
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		checked, err := joblist.Check(t.Context(), config)
		said := strings.Join(checked.Notes, "\n")
		for _, err := range checked.Wrong {
			said += err.Error()
		}
		if err != nil || !strings.Contains(said, path) || !forged && len(checked.Wrong) > 0 {
			t.Errorf("try %d: byte %d of %s was changed, forged %v: %+v, %v", try, at, path, forged, checked, err)
		}
		if err := os.WriteFile(path, sound, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// blockOf finds the first block of a list, whose end is where its checksum is right.
func blockOf(list []byte, rng *rand.Rand) (from, to int) {
	table := crc32.MakeTable(crc32.Castagnoli)
	var blocks [][2]int
	sum := uint32(0)
	for from, to = 0, 0; to+4 <= len(list) && len(blocks) < 8; to++ {
		if to > from && sum == binary.LittleEndian.Uint32(list[to:]) {
			blocks = append(blocks, [2]int{from, to})
			from, sum = to+4, 0
			to += 3
			continue
		}
		sum = crc32.Update(sum, table, list[to:to+1])
	}
	if len(blocks) > 1 {
		blocks = blocks[:len(blocks)-1] // the last one may be the footer
	}
	b := blocks[rng.IntN(len(blocks))]
	return b[0], b[1]
}
