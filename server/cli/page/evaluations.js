"use strict";
// Reading needs none of this: everything is listed, and links lead from a sentence to what it was compared with.
{% include "items.js" %}
{% include "jumps.js" %}
