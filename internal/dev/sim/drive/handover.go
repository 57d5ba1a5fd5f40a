package drive

// handOver ends the process, cleanly or not, and the other controller takes over. That one knows its own log, which
// ends with its last turn, and the cluster as it is (O-008). Requests in flight of the first one arrive late, if at
// all.
func (d *Driver) handOver() error {
	if d.rng.IntN(2) == 0 {
		d.fall()
	} else if err := d.end(); err != nil {
		return err
	}
	d.log, d.resting = d.resting, d.log
	if d.log == nil {
		d.newLog()
	}
	d.say("log %s takes over", d.log.Identity().LogID)
	d.checker.LogLost()
	return d.boot()
}
