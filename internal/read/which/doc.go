// Package which finds the object that somebody means in a log: a Job, a CronJob or a pod of a Job, by its name, its UID
// or how one begins, in a namespace or wherever it is; and the moment that somebody means.
//
//	object, namespace, err := which.Parse([]string{"prod/etl"})
//	finder := which.Finder{Source: source, Note: note}
//	object, place, err := finder.Resolve(ctx, which.Place{Namespace: namespace, Named: true}, object)
//	streams, err := finder.Jobs(ctx, place, object)
//
// What cannot be understood, or means several objects, is a [WrongError], which names what may be written instead. What
// was taken beside the letter of what was written (another namespace, the newest of several lives) is told as a note.
//
// Read object.go, then elsewhere.go and find.go; when.go stands alone.
package which
