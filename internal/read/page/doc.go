// Package page lays out answers as HTML documents. The server makes one document for each screen.
//
//	handler := page.New(page.Config{Source: source, Where: "prod-eu"})
//	http.Serve(listener, handler)
//
// A screen is a layout of answers of package ask. This package computes nothing and writes no sentences of its own: the
// sentences come from package explain, the tables from package show, the pictures from package picture. The address
// holds all state of a screen, so the same address shows the same screen on every machine:
//
//	/                     what is stuck or failed, and the Jobs that ended: ?since= ?until= ?n=NAMESPACE
//	/job/NS/NAME          a Job: ?uid= ?at=
//	/pod/NS/NAME          a pod: ?at=
//	/cronjob/NS/NAME      a CronJob: ?at= ?time= for one instant
//	/record/N             a record, what led to it, and what it led to
//	/find?q=              objects and records that match a text
//
// On each, ?o=json gives the answer as the command does with -o json, ?o=md a text for a chat, ?o=svg the picture
// alone, and ?o=file one file without a script. ?zone= sets the time zone. A form that a screen does not have is
// refused.
//
// # Changes
//
// ?o=live&from=RECORD is a stream of server-sent events, one each second. An event says how many changes there are
// after the record, what the user must know about the log (such as that its controller does not answer), and what time
// it is. It never says what has changed. The script shows the number of changes. It loads the page again when the user
// asks for it, or at once if the user has nothing open, selected or scrolled. If no event comes for 4 s, the page says
// since when, and as of which record it is. A hidden or paused page has no stream.
//
// # Compression
//
// Pages, style and script are compressed for a browser that takes gzip. Streams of changes, and parts of a document,
// are not.
//
// # Bounds
//
// A request ends after 10 s. An answer of more than 4 MiB is refused. Eight requests are answered at the same time, two
// for each user. Further requests wait up to 2 s for their turn and are then refused with status 503.
//
// # Texts of users
//
// Texts of pods, users and the API server are reduced to visible characters (words.Clean) and escaped by html/template.
// The policy of each page allows only its own script, style and origin. All requests are GET, and nothing is ever
// written.
//
// # Concurrency
//
// The handler answers several requests at the same time. It keeps no state between them.
//
// Read site.go, then job.go.
package page
