"""State in Google Cloud Firestore: for processes that share nothing else, such as the instances of a Cloud Function.

The verbs are in `backend.py`; the first call of a verb imports the library.
"""

from __future__ import annotations

from websearch_gateway.state.firestore.backend import FirestoreState

__all__ = ["FirestoreState"]
