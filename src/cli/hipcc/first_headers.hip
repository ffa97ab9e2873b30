// What `margay hipcc` precompiles the headers in front of (precompiled.h). A source is needed that
// is not among system headers, so that headers are warned of; that does not change, since
// precompiled headers hold only as long as it is the same; and that stays where it is, since rules
// of make name it.
