"""Problems whose Python source is sent with an attempt and runs in a box, never in our process.

`server` is the program in the box, `proxy` is the `Problem` that the judge uses, and `protocol` has the
messages between them. This package is a layer above `sandbox`: the rest of `warmfront.problems` does not
import it.
"""
