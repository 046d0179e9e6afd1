// The version that the daemon and the command both tell.

/// Of the release that this source is.
package let iftallyVersion = "0.1.0"
