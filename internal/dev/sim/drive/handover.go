package drive

// handOver ends the process, cleanly or not, and lets the other controller take over. The other controller knows the
// cluster as it is now, and its own log, which ends with its last turn (O-008). Requests of the first controller that
// are in flight arrive late or never.
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
