from typing import NamedTuple

import pytest

from websearch_gateway.answers.extractive import find_evidence
from websearch_gateway.evidence.embedders.local import encode
from websearch_gateway.evidence.sentences import Document

KEEPER = (
    "Der Fabrikant von Waffen hieß Olaf Berg. Im Winter fiel viel Schnee auf die Insel. Ann kam im Jahr 1901 aus "
    "Bergen. Sie kaufte den Turm des Fabrikanten. Im Sommer kamen Gäste."
)


def quoted(query: str, page: str, room: int = 800, hedge: int = 80) -> list[str]:
    return [
        one.text
        for one in find_evidence(
            query, [Document("", page)], room, encode, 7, hedge=hedge
        ).sentences
    ]


def test_a_further_sentence_that_begins_with_a_pronoun_is_quoted_with_the_one_before_it() -> None:
    found = quoted("Wie hieß der Fabrikant, dem der Turm gehörte?", KEEPER)
    assert "Ann kam im Jahr 1901 aus Bergen. Sie kaufte den Turm des Fabrikanten." in found


def test_an_answer_without_a_hedge_may_use_the_characters_of_the_hedge() -> None:
    page = " ".join(
        f"Der Leuchtturm {number} von Skerry steht seit 1901 auf einem Felsen."
        for number in "ABCDEF"
    )
    question, length = "Seit wann steht der Leuchtturm von Skerry auf einem Felsen?", 2 * (61 + 7)
    assert len(quoted(question, page, room=length, hedge=0)) == len(
        quoted(question, page, room=length, hedge=80)
    )


class Story(NamedTuple):
    about: str
    other: str
    asked: tuple[tuple[str, str], ...]


STORIES = {
    "de": Story(
        "Der Leuchtturm von Skerry steht auf einem Felsen. Er wurde 1901 von der Firma Berg errichtet. "
        "Der letzte Leuchtturmwärter verließ die Insel im Jahr 1987. Die Fähre zur Insel kostet neun Kronen.",
        "Man schält die Kartoffeln. Danach kocht man sie eine halbe Stunde in der Brühe. Die Suppe wird heiß serviert. "
        "Das Rezept kommt von einer Insel.",
        (
            ("Wann verließ der letzte Wärter die Insel?", "1987"),
            ("Wie viele Kronen kostet die Inselfähre?", "neun"),
        ),
    ),
    "es": Story(
        "El faro de Skerry está sobre una roca. La empresa Berg lo construyó en 1901. "
        "El último farero abandonó la isla en 1987. El transbordador a la isla cuesta nueve coronas.",
        "Se pelan las patatas. Después se cuecen en caldo durante media hora. La sopa se sirve caliente. "
        "La receta viene de una isla y de una empresa.",
        (
            ("¿Cuándo abandonó la isla el último farero?", "1987"),
            ("¿Qué empresa construyó el faro?", "Berg"),
        ),
    ),
    "ru": Story(
        "Маяк Скерри стоит на скале. Его построила фирма Берга в 1901 году. "
        "Последний смотритель маяка покинул остров в 1987 году. Паром на остров стоит девять крон.",
        "Картофель чистят. Потом его варят в бульоне полчаса. Суп подают горячим. Рецепт пришёл с острова.",
        (
            ("Когда остров покинул последний смотритель?", "1987"),
            ("Сколько стоит паром на остров?", "девять"),
        ),
    ),
    "ar": Story(
        "تقف منارة سكيري على صخرة. بنتها شركة بيرغ عام 1901. غادر آخر حارس للمنارة الجزيرة عام 1987. "
        "تكلف العبارة إلى الجزيرة تسع كرونات.",
        "تقشر البطاطس. ثم تطبخ في المرق لمدة نصف ساعة. يقدم الحساء ساخنا. جاءت الوصفة من الجزيرة.",
        (("متى غادر الحارس الأخير الجزيرة؟", "1987"), ("كم تكلف العبارة إلى الجزيرة؟", "تسع")),
    ),
    "hi": Story(
        "स्केरी प्रकाशस्तंभ एक चट्टान पर खड़ा है। बर्ग कंपनी ने इसे 1901 में बनाया था। "
        "प्रकाशस्तंभ के अंतिम रखवाले ने 1987 में द्वीप छोड़ दिया। द्वीप की नाव का किराया नौ क्राउन है।",
        "आलू छीलें। फिर उन्हें आधे घंटे तक शोरबे में पकाएं। सूप गरम परोसा जाता है। यह विधि एक द्वीप से आई है।",
        (("अंतिम रखवाले ने द्वीप कब छोड़ा?", "1987"), ("द्वीप की नाव का किराया कितना है?", "नौ")),
    ),
    "th": Story(
        "ประภาคารสเกอร์รีตั้งอยู่บนโขดหิน สร้างโดยบริษัทเบิร์กในปี 1901\n\nผู้ดูแลประภาคารคนสุดท้ายออกจากเกาะในปี 1987\n\n"
        "ค่าเรือข้ามฟากไปเกาะคือเก้าโครน",
        "ปอกมันฝรั่งแล้วต้มในน้ำซุปครึ่งชั่วโมง\n\nเสิร์ฟซุปขณะร้อน สูตรนี้มาจากเกาะแห่งหนึ่ง",
        (("ผู้ดูแลประภาคารคนสุดท้ายออกจากเกาะเมื่อใด", "1987"), ("ค่าเรือข้ามฟากไปเกาะเท่าไร", "เก้า")),
    ),
    "zh": Story(
        "斯凯里灯塔矗立在一块岩石上。贝格公司于1901年建造了它。最后一位守塔人于1987年离开该岛。前往该岛的渡轮票价为九克朗。",
        "先把土豆削皮。然后在高汤里煮半个小时。汤要趁热上桌。这个食谱来自一个岛。",
        (("最后一位守塔人什么时候离开该岛？", "1987"), ("前往该岛的渡轮票价是多少？", "九")),
    ),
    "tr": Story(
        "Skerry deniz feneri bir kayanın üzerindedir. Feneri 1901 yılında Berg şirketi inşa etti. "
        "Son fener bekçisi adayı 1987 yılında terk etti. Adaya giden feribot dokuz krondur.",
        "Patatesler soyulur. Sonra et suyunda yarım saat pişirilir. Çorba sıcak servis edilir. Tarif bir adadan gelir.",
        (
            ("Son fener bekçisi adayı ne zaman terk etti?", "1987"),
            ("Adaya giden feribot kaç krondur?", "dokuz"),
        ),
    ),
    "vi": Story(
        "Ngọn hải đăng Skerry nằm trên một tảng đá. Công ty Berg xây dựng nó vào năm 1901. "
        "Người gác đèn cuối cùng rời hòn đảo vào năm 1987. Vé phà ra hòn đảo giá chín curon.",
        "Gọt vỏ khoai tây. Sau đó nấu chúng trong nước dùng nửa giờ. Món súp được dọn nóng. "
        "Công thức đến từ một hòn đảo.",
        (
            ("Người gác đèn cuối cùng rời hòn đảo khi nào?", "1987"),
            ("Vé phà ra hòn đảo giá bao nhiêu?", "chín"),
        ),
    ),
}
CASES = [
    pytest.param(story, question, answer, id=f"{language}-{at}")
    for language, story in STORIES.items()
    for at, (question, answer) in enumerate(story.asked)
]


@pytest.mark.parametrize(("story", "question", "answer"), CASES)
def test_the_answering_page_is_quoted_first_and_without_a_hedge(
    story: Story, question: str, answer: str
) -> None:
    found = find_evidence(
        question, [Document("", story.other), Document("", story.about)], 720, encode
    )
    assert answer in found.sentences[0].text
    assert found.is_answer


@pytest.mark.parametrize(("story", "question", "answer"), CASES)
def test_a_page_about_something_else_is_not_an_answer(
    story: Story, question: str, answer: str
) -> None:
    assert not find_evidence(question, [Document("", story.other)], 720, encode).is_answer


def test_a_compound_resembles_its_parts() -> None:
    page = "Der Händler von Brot wohnte in Oslo.\n\nDer Fabrikant von Waffen wohnte in Bergen."
    assert (
        quoted("Wo wohnte der Waffenfabrikant?", page)[0]
        == "Der Fabrikant von Waffen wohnte in Bergen."
    )


def test_another_spelling_of_a_name_is_found() -> None:
    page = "The keeper wrote the letter to Ann.\n\nThe Zwinglyanist wrote the letter to Olaf."
    assert quoted("Who got the letter that the Zwinglianist wrote?", page)[0].startswith(
        "The Zwinglyanist"
    )
