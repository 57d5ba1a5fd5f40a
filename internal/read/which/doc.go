// Package which finds the object in a log that a user means: a Job, a CronJob, or a pod of a Job. The user gives a
// name, a UID or the beginning of a UID, with or without a namespace. The package also reads the times that users
// write.
//
//	object, namespace, err := which.Parse([]string{"prod/etl"})
//	finder := which.Finder{Source: source, Note: note}
//	object, place, err := finder.Resolve(ctx, which.Place{Namespace: namespace, Named: true}, object)
//	streams, err := finder.Jobs(ctx, place, object)
//
// A result is a stream: the records of one Job or CronJob, by its UID. Several streams are objects with the same name,
// one after the other; the newest comes first.
//
// If the input cannot be understood, or means several objects, the error is a [WrongError]. Its text says what to write
// instead. If the finder takes an object that the user did not name exactly (in another namespace, or the newest of
// several with the name), it tells the user with Finder.Note.
//
// Read object.go, then elsewhere.go and find.go. when.go stands alone.
package which
