// Package stood tells tests when the machine stood still: how late it let a process wake
// that had nothing else to do. What a test measured meanwhile of real servers, in real
// time, is then no word about perch, and may be measured anew.
//
// All of it is behind the build tags peers and soak.
package stood
