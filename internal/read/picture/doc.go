// Package picture draws the timeline of a Job as SVG: for a page, for a file, and for a README.
//
//	svg := picture.Timeline(t, picture.Options{Alone: true})
//
// The input is the answer of a question in package ask: a lane (row) for each index of the Job or each try (pod), with
// what happened when. A mark names the record that proves it, and is a link if Options.Record returns an address. A
// long time in which nothing happens is folded: it is drawn narrow, with its length. Each colour comes with a pattern,
// so that nothing depends on colour alone. One picture contains the light and the dark theme.
//
// # What it draws
//
// From the top: the times, how many pods were wanted and when the Job was suspended, when the cluster was watched,
// edits and decisions, then the lanes. A thin line before the end of a try spans the time in which it may have ended.
// If there are more than MostLanes lanes, the lanes with a single try that succeeded become one line, with a strip of
// all indexes above it. The other lanes are on pages of MostLanes lanes, those with a failed try first.
//
// Texts of users are escaped, and cut to the space that they have. A browser shows the whole text as the title of the
// mark.
//
// # Concurrency
//
// Several goroutines may call the functions. They keep no state.
package picture
