"use strict";
// Reading needs none of this: everything is listed, and links lead from a claim to its card and on to the source. The
// script keeps claim and passage in sight of each other, lights up what was checked, and filters and sorts.
{% include "claims.js" %}
{% include "items.js" %}
{% include "jumps.js" %}
