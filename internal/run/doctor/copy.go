package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jobledger/jobledger/store/copylog"
)

// Copy is the destination of the log's copy (--copy-to).
type Copy struct {
	Place    copylog.Place // nil for no copy
	Unfenced bool          // --copy-unfenced
}

const (
	copyWait  = 20 * time.Second // time limit for all answers of the destination
	clockFar  = time.Minute      // difference of the clocks above which a warning is given
	clockMost = 15 * time.Minute // difference of the clocks above which S3 servers refuse requests
)

// copyPlace does everything at the destination of the copy that the controller will do there, with a test object of its
// own, and returns what it found. It also reports a copy that exists already.
func copyPlace(ctx context.Context, c *Config) []Finding {
	place := c.Copy.Place
	if place == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, copyWait)
	defer cancel()
	found, err := copylog.Try(ctx, place)
	if err != nil {
		do := "look at the address (--copy-to), AWS_ENDPOINT_URL and the network; Jobs do not wait for the copy"
		if errors.Is(err, copylog.ErrDenied) || errors.Is(err, fs.ErrPermission) {
			do = "give the account the rights to read, write and delete objects there: s3:GetObject, s3:PutObject, s3:DeleteObject; none to list is needed"
		}
		return []Finding{{Level: Problem, Text: fmt.Sprintf("%s: %v", place, err), Do: do}}
	}
	all := able(c, found)
	said := clockOf(place, found.Ahead)
	if all = append(all, said...); len(all) > 0 {
		return append(all, isThere(ctx, place, Note))
	}
	return []Finding{isThere(ctx, place, OK)}
}

// able returns a finding for each feature that the destination of the copy lacks.
func able(c *Config, found copylog.Probe) (all []Finding) {
	if !found.Fenced {
		f := Finding{
			Level: Problem, Text: "the server of the copy knows no conditional writes (If-Match, If-None-Match): a second controller could overwrite the copy",
			Do: "use another server; or --copy-unfenced, where nothing else writes to that place",
		}
		if c.Copy.Unfenced {
			f.Level, f.Do = Warning, "see to it that nothing else writes to that place"
		}
		all = append(all, f)
	}
	if !found.Ranges {
		all = append(all, Finding{Level: Warning, Text: "the server of the copy does not read parts of objects", Do: "use another server: a damaged object is then found late"})
	}
	return all
}

func clockOf(place copylog.Place, ahead time.Duration) []Finding {
	off := ahead.Abs()
	if off < clockFar {
		return nil
	}
	way := "ahead of"
	if ahead < 0 {
		way = "behind"
	}
	f := Finding{Level: Warning, Text: fmt.Sprintf("the clock of %s is %s %s the one here", place, off.Round(time.Second), way), Do: "set the clocks (NTP)"}
	if off >= clockMost {
		f.Do += ": requests are refused that are 15 minutes off"
	}
	return []Finding{f}
}

// isThere returns a finding about the copy that exists at the destination, or that says that there is none.
func isThere(ctx context.Context, place copylog.Place, level Level) Finding {
	content, _, err := copylog.ReadAll(ctx, place, copylog.ManifestName, copylog.MostManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return Finding{Level: level, Text: fmt.Sprintf("%s can be written; there is no copy yet", place)}
	}
	var m *copylog.Manifest
	if err == nil {
		m, err = copylog.Decode(content)
	}
	if err != nil {
		return Finding{
			Level: Problem, Text: fmt.Sprintf("the manifest of the copy at %s cannot be read: %v", place, err),
			Do: "'jobledger restore --manifest' reads an earlier one (manifests/…); give a new copy another place",
		}
	}
	return Finding{Level: level, Text: fmt.Sprintf("%s can be written; it has log %s through record %d, of %s", place, m.Identity.LogID, m.Head.Sequence,
		m.Head.Time.Go().UTC().Format(time.RFC3339))}
}
