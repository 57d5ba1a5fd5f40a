package browser

import (
	"bytes"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// TestAPageIsSmall: with an empty browser cache, a page needs at most three requests and 60 KB on the line.
func TestAPageIsSmall(t *testing.T) {
	whole(t)
	eachPage(t, func(t *testing.T, v *visitor, _ string) {
		var mu sync.Mutex
		requests, bytes, listening := 0, 0.0, true
		v.listen(func(event any) {
			mu.Lock()
			defer mu.Unlock()
			if e, ok := event.(*network.EventLoadingFinished); ok && listening {
				requests++
				bytes += e.EncodedDataLength
			}
		})
		send(v, network.Enable, network.EnableParams{})
		send(v, network.ClearBrowserCache, cdp.Empty{})
		v.do(chromedp.Reload())
		mu.Lock()
		defer mu.Unlock()
		listening = false
		const most, largest = 3, 60 << 10
		if requests == 0 || requests > most || bytes > largest {
			t.Errorf("%d requests, %.0f bytes: want at most %d and %d", requests, bytes, most, largest)
		}
	})
}

// printed returns how many sheets of paper a page needs.
func (v *visitor) printed() int {
	v.t.Helper()
	return bytes.Count(get(v, chromedp.PrintToPDF()), []byte("/Type /Page\n"))
}
