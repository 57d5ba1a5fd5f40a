// Package page lays out answers as HTML documents: one for each screen, made by the server.
//
//	handler := page.New(page.Config{Source: source, Where: "prod-eu"})
//	http.Serve(listener, handler)
//
// Every screen is answers of package ask, laid out. The page computes nothing and words nothing of its own: sentences
// come from package explain, tables from package show, pictures from package picture. All of a screen's state is in its
// address, which is the same on every machine:
//
//	/                     what is stuck or failed, and the Jobs that ended: ?since= ?until= ?n=NAMESPACE
//	/job/NS/NAME          a Job: ?uid= ?at=
//	/pod/NS/NAME          a pod: ?at=
//	/cronjob/NS/NAME      a CronJob: ?at= ?time= for one instant
//	/record/N             a record, what led to it, and what it led to
//	/find?q=              what a piece of a text is of
//
// On each, ?o=json gives the answer as the command does with -o json, ?o=md a text for a chat, ?o=svg the picture
// alone, ?o=file one file without a script, and ?zone= the times of a zone. What a screen does not have is refused.
//
// # Bounds
//
// A request ends after 10 s. An answer of more than 4 MiB is refused. Eight requests are answered at a time, two for
// each user; others wait 2 s for their turn, then they are told to come again.
//
// # What others wrote
//
// Texts of pods, users and the API server have only visible characters (words.Clean), and are escaped by html/template.
// The policy of each page forbids scripts, styles and requests but its own. Nothing is ever written: all requests are
// GET.
//
// # Concurrency
//
// The handler answers several requests at a time. It keeps nothing between them.
//
// Read site.go, then job.go.
package page
